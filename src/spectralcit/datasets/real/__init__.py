"""Real data that installed packages bring: frames with roles, questions, source and licence.

`list_real` names them, `load_real` reads one. Nothing is downloaded: a package that is not installed is one
error that says what to install. ``Plasmode`` redraws one column of such a table given others, so that the
truth of a question about real columns is known.
"""

from .catalogue import Question, RealData, RealInfo, list_real, load_real

__all__ = ["Question", "RealData", "RealInfo", "list_real", "load_real"]
