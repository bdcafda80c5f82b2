"""Conditional independence testing with learned spectral representations.

The names below are the whole public interface. Those that need JAX or scikit-learn are imported when they are
first used, so that ``import spectralcit`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import errors
from .allocators import reserve_little
from .api import ci_test
from .errors import SpectralCITError, SpectralCITWarning
from .lazy import lazy_names
from .registry import TestInfo, TestTags, get_test, list_tests, register
from .result import CITestResult, NullDistribution, Outcome

if TYPE_CHECKING:
    from .base import BaseCITest
    from .discovery.selection import CISelector
    from .inputs import Block, CIData, prepare
    from .many import test_many
    from .paper.config import PaperConfig
    from .paper.features import LearnedFeatures
    from .screening import ScreenResult, screen
    from .sequential import SequentialCI
    from .spectral.features import LearnedDirections, learn_features
    from .spectral.test import SpectralCIT
    from .suggest import suggest_tests
    from .tables import read_table

__version__ = "0.1.0"

reserve_little()

__all__ = [
    "BaseCITest",
    "Block",
    "CIData",
    "CISelector",
    "CITestResult",
    "LearnedDirections",
    "LearnedFeatures",
    "NullDistribution",
    "Outcome",
    "PaperConfig",
    "ScreenResult",
    "SequentialCI",
    "SpectralCIT",
    "SpectralCITError",
    "SpectralCITWarning",
    "TestInfo",
    "TestTags",
    "__version__",
    "ci_test",
    "errors",
    "get_test",
    "learn_features",
    "list_tests",
    "prepare",
    "read_table",
    "register",
    "screen",
    "suggest_tests",
    "test_many",
]

# Where each name lives that is imported when it is first used.
_LAZY = {
    "BaseCITest": ".base",
    "Block": ".inputs",
    "CIData": ".inputs",
    "CISelector": ".discovery.selection",
    "prepare": ".inputs",
    "read_table": ".tables",
    "suggest_tests": ".suggest",
    "PaperConfig": ".paper.config",
    "LearnedFeatures": ".paper.features",
    "LearnedDirections": ".spectral.features",
    "learn_features": ".spectral.features",
    "ScreenResult": ".screening",
    "screen": ".screening",
    "test_many": ".many",
    "SequentialCI": ".sequential",
    "SpectralCIT": ".spectral.test",
}

__getattr__, __dir__ = lazy_names(__name__, _LAZY)
