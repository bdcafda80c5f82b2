"""From a plotting function to an SVG that can stand inside a page, on white and on black."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["svg"]

# Drawn by matplotlib, then replaced by the page's own text colour, whatever that is in light, dark and print.
_INK = "#010203"
# Nothing but the drawing itself, in the ink that is replaced.
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # letters stay letters: selectable, and any script that the browser can show
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # A page on a phone shows a picture at 1.08 times its size: the smallest letters are then 9.4 px high.
    "font.size": 10.5,
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
    "legend.fontsize": "small",
    "legend.title_fontsize": "small",
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def svg(
    draw: Callable[[Axes], Any], name: str, *, width: float = 4.6, height: float = 3.2, alt: str = ""
) -> str:
    """What `draw` paints as an ``<svg>`` element whose identifiers begin with `name`; sizes are in inches.

    `alt` says in words what the picture shows, for those who do not see it.

    Examples
    --------
    >>> picture = svg(lambda ax: ax.plot([0, 1]), "line")
    >>> picture.startswith("<svg"), "currentColor" in picture, "http" in picture
    (True, True, False)
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("reports need matplotlib: pip install 'spectralcit[report]'") from error
    buffer = io.StringIO()
    style: Any = {**_STYLE, "svg.hashsalt": name}
    with mpl.rc_context(style), warnings.catch_warnings():
        # A name in a script that matplotlib's font lacks is only measured here; the browser draws it.
        warnings.filterwarnings("ignore", message=r".*Glyph .* missing from font")
        figure = Figure(figsize=(width, height), layout="constrained", dpi=160)
        draw(figure.subplots())
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _for_a_page(buffer.getvalue(), name, alt or name)


def _for_a_page(text: str, name: str, alt: str) -> str:
    """Drop what only a file of its own needs, and make identifiers unique."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style .*?</style>", "", text, flags=re.DOTALL)  # it would apply to the whole page
    # Inside tags only: what users wrote is text between them, where "<" and ">" are escaped.
    return re.sub(r"<[^>]*>", lambda tag: _adapted(tag.group(), name, alt), text)


def _adapted(tag: str, name: str, alt: str) -> str:
    if tag.startswith("<svg"):
        box = re.search(r'viewBox="[^"]*"', tag)
        return f'<svg {box.group() if box else ""} role="img" aria-label="{escape(alt)}">'
    tag = tag.replace(_INK, "currentColor")
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    tag = re.sub(r"url\(#", f"url(#{name}-", tag)
    return re.sub(r'(?:xlink:)?href="#', f'href="#{name}-', tag)
