"""JAX's persistent compilation cache, in the user's cache folder.

Compiling the training loop takes seconds, and the result is the same tomorrow. `use_persistent_cache` is
called just before the loop is compiled; importing this package never changes JAX's configuration.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from pathlib import Path

import jax

__all__ = ["cache_folder", "use_persistent_cache"]

# Compilations faster than this are not worth a file. JAX's own default is one second, which some of the
# smaller training loops fall under.
_MIN_COMPILE_SECONDS = 0.2


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/spectralcit/jax/<processor>`` or the same under ``~/.cache``.

    Compiled code uses the instructions of the processor it was compiled on, so a home folder shared by
    different machines gets one folder for each kind.
    """
    root = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(root) / "spectralcit" / "jax" / _processor_fingerprint()


def use_persistent_cache() -> bool:
    """Point JAX at `cache_folder`; tell whether this changed anything.

    A cache folder that the user configured (``JAX_COMPILATION_CACHE_DIR`` or ``jax.config``) is left alone,
    and so is a cache that the user switched off. A folder that cannot be written is no error: the loop is
    compiled again in every process.
    """
    now = jax.config.values
    if now["jax_compilation_cache_dir"] is not None or not now["jax_enable_compilation_cache"]:
        return False
    folder = cache_folder()
    if not _is_writable(folder):
        return False
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _MIN_COMPILE_SECONDS)
    return True


def _is_writable(folder: Path) -> bool:
    try:
        # Executables are loaded from here, so nobody else may write to it.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Asking for permissions is not enough on a read-only or full disk.
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _processor_fingerprint() -> str:
    description = f"{platform.machine()} {platform.processor()}"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    digest = hashlib.sha256(f"{description} {features}".encode()).hexdigest()
    return digest[:12]
