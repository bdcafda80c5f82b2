"""Where a report goes: HTML or PDF by the name of the file, in a folder that is there."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, ParameterError
from ..files import replacing, write_atomically

__all__ = ["check_target", "write_page"]

_ENDINGS = (".html", ".htm", ".pdf")  # what browsers and readers open


def check_target(path: str | Path) -> Path:
    """Refuse what cannot be written, before anything is computed."""
    path = Path(path)
    if path.is_dir():
        raise ParameterError(
            f"{path} is a folder; a report needs the name of a file, say {path / 'report.html'}"
        )
    if path.suffix.lower() not in _ENDINGS:
        raise ParameterError(f"a report is an .html or a .pdf file, not {path.name!r}: change the ending")
    if not path.parent.is_dir():
        raise ParameterError(
            f"the folder {path.parent} does not exist: make it, or write the report somewhere else"
        )
    if path.suffix.lower() == ".pdf":
        _weasyprint()
    return path


def write_page(path: Path, page: str) -> Path:
    """Write a page of HTML, or print it if the name ends in ``.pdf``; whole or not at all."""
    if path.suffix.lower() != ".pdf":
        return write_atomically(path, page)
    weasyprint = _weasyprint()
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it remarks on rules that only screens need
    with replacing(path) as scratch:
        # Pictures are inside of the page; nothing is ever fetched.
        inside = weasyprint.urls.URLFetcher(allowed_protocols=("data",))
        weasyprint.HTML(string=page, url_fetcher=inside).write_pdf(scratch)
        scratch.chmod(0o644)  # scratch files are for their owner only; this one is for sharing
    return path


def _weasyprint() -> Any:
    try:
        import weasyprint.urls
    except (ImportError, OSError) as error:  # OSError: its libraries for text are not on this machine
        raise MissingExtraError(
            "a PDF needs weasyprint: pip install 'spectralcit[pdf]'; or write an .html file and print that"
        ) from error
    return weasyprint
