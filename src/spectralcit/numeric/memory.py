"""Refuse, before allocating anything, problems whose n-by-n matrices would not fit in memory."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import TooLargeError

__all__ = ["available_memory", "require_memory"]

_FALLBACK_BYTES = 4 * 2**30  # by hand: a small laptop's, when the operating system does not tell
# Where containers of the second and of the first generation say what they may use.
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available_memory() -> int:
    """Bytes of memory that this process may reasonably ask for."""
    candidates = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        candidates += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    except OSError:
        pass
    if not candidates:
        try:
            candidates.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            candidates.append(_FALLBACK_BYTES)
    for path in _CGROUP_LIMITS:
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            candidates.append(int(text))
    return min(candidates)


def require_memory(n: int, matrices: int, *, method: str, instead: str) -> None:
    """Raise `TooLargeError` when `matrices` float64 matrices of n by n, alive at once, do not fit."""
    needed, available = 8 * n * n * matrices, available_memory()
    if needed > available:
        raise TooLargeError(
            f"{method!r} on {n} rows needs about {needed / 2**30:.1f} GiB for its {n} x {n} matrices, and "
            f"{available / 2**30:.1f} GiB are available; use method={instead!r}, whose memory is linear "
            "in the number of rows, or fewer rows"
        )
