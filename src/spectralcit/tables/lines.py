"""From bytes to lines of text: bounded in memory, and exact about where something is wrong."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

from ..errors import ParameterError, TableFileError

__all__ = ["MAX_LINE", "decoded_lines"]

# Most bytes in a line: 100 000 columns need about two million; a file without newlines is no table.
MAX_LINE = 16 * 2**20

_WIDE = ("utf-16", "utf-32")  # their newlines are not single bytes


def decoded_lines(stream: BinaryIO, source: str, encoding: str) -> Iterator[str]:
    """Lines of `stream`, each with its newline; it is never read further than `MAX_LINE` bytes ahead."""
    try:
        codec = codecs.lookup(encoding).name
    except LookupError as error:
        raise ParameterError(f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252") from error
    if codec.startswith(_WIDE):
        return _wide_lines(stream, source, codec)
    return _narrow_lines(stream, source, codec)


def _narrow_lines(stream: BinaryIO, source: str, codec: str) -> Iterator[str]:
    offset = 0
    for number, raw in enumerate(iter(lambda: stream.readline(MAX_LINE + 1), b""), start=1):
        if len(raw) > MAX_LINE:
            raise _too_long(source, number)
        if b"\0" in raw:
            at = f"byte {offset + raw.index(0)}, line {number}"
            raise TableFileError(f"{source} holds a NUL byte ({at}): it is damaged, or not a text table")
        if number == 1 and raw.startswith(codecs.BOM_UTF8):
            raw, offset = raw[len(codecs.BOM_UTF8) :], len(codecs.BOM_UTF8)
        try:
            yield raw.decode(codec)
        except UnicodeDecodeError as error:
            bad, position = raw[error.start], offset + error.start
            raise TableFileError(
                f"{source} is not {codec}: byte 0x{bad:02x} at offset {position}, line {number}. "
                "Give its encoding, for instance encoding='latin-1' (or 'cp1252' for files from Windows)"
            ) from error
        offset += len(raw)


def _wide_lines(stream: BinaryIO, source: str, codec: str) -> Iterator[str]:
    text = io.TextIOWrapper(stream, encoding=codec, newline="\n")
    number = 0
    try:
        for number, line in enumerate(iter(lambda: text.readline(MAX_LINE + 1), ""), start=1):
            if len(line) > MAX_LINE:
                raise _too_long(source, number)
            yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeError as error:
        raise TableFileError(f"{source} is not {codec} after line {number}: {error}") from error
    finally:
        text.detach()  # the file belongs to whoever opened it


def _too_long(source: str, number: int) -> TableFileError:
    return TableFileError(
        f"line {number} of {source} is longer than {MAX_LINE // 2**20} MiB: "
        "this is not a table with one row per line"
    )
