"""Resident memory of this process and of others, from the operating system."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import TracebackType

__all__ = ["PeakMemory", "can_watch", "resident_mb"]


class PeakMemory:
    """Context manager that measures the largest resident memory of this process, in megabytes.

    On Linux the kernel's high-water mark is reset first, so that the figure belongs to the block. Elsewhere
    it is the largest since the process began. Threads of one process share the figure.
    """

    peak_mb: float = 0.0

    def __enter__(self) -> PeakMemory:
        # Not Linux, or a kernel without this file: the mark of the whole process then.
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.peak_mb = _high_water_mb()


def _high_water_mb() -> float:
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def can_watch() -> bool:
    """Whether the memory of another process can be read."""
    return Path("/proc/self/status").exists()


def resident_mb(pid: int) -> float:
    """Resident memory of a process in megabytes; 0 when it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0
