"""Allocators that reserve hardly more addresses than they use, where a process has few of them.

Under a limit of the address space (``ulimit -v``, some batch systems) what is reserved counts. Arrow's
own allocator reserves a gigabyte when ``pyarrow.dataset`` is imported, and the C library 64 MiB for every
thread. Arrow reads the name of its allocator once, when it is imported, which pandas and scikit-learn do too:
hence this is called when the package is imported.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

__all__ = ["reserve_little"]

_ARENA_MAX = -8  # the option M_ARENA_MAX of glibc's mallopt


def reserve_little() -> None:
    """Let Arrow and the C library reserve little, if the address space of this process is limited."""
    if not _is_limited():
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # a C library that has neither the option nor the arenas
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def _is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
