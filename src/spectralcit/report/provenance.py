"""Where a report comes from: when it was written, and the file behind it with its checksum."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["file_facts", "moment"]

_CHUNK = 1 << 20  # bytes read at a time


def moment(now: datetime | None = None) -> str:
    """A time in words, in UTC; now when none is given.

    Examples
    --------
    >>> moment(datetime(2026, 3, 1, 14, 5, tzinfo=UTC))
    '2026-03-01 14:05 UTC'
    """
    return (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def file_facts(source: str) -> list[tuple[str, str]]:
    """Label and value of what identifies a file; nothing when the source is not a file that can be read."""
    path = Path(source)
    try:
        if not source or not path.is_file():
            return []
        found, size = hashlib.sha256(), path.stat().st_size
        with path.open("rb") as file:
            while part := file.read(_CHUNK):
                found.update(part)
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError):  # unreadable by now, or not a name that a file can have
        return []
    return [
        ("file", path.name),
        ("bytes", f"{size:,}"),
        ("last changed", moment(changed)),
        ("SHA-256", found.hexdigest()),
    ]
