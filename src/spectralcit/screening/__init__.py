"""Many columns against one outcome given the same Z: one answer per column."""

from .frame import ScreenResult
from .run import screen

__all__ = ["ScreenResult", "screen"]
