"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["replacing", "write_atomically"]


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a scratch file beside `path` that takes its place at the end.

    A reader never sees half a file, and an interrupted writer leaves the old one in place.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, text: str) -> Path:
    """Write `text` in UTF-8 beside `path`, whose folder is made when missing, and move it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as scratch:
        with scratch.open("w", encoding="utf-8") as file:
            file.write(text)
        scratch.chmod(0o644)  # scratch files are for their owner only; this one is for sharing
    return path
