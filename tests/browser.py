"""Chromium without a window, for tests that look at pages as people see them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    # Nothing of its own: what is asked for and logged is the page's.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def opened(address, folder, *options, timeout=120):
    """Open an address with a new profile in `folder`; what the browser printed, when it is done."""
    command = [str(CHROMIUM), *_OPTIONS, f"--user-data-dir={folder / 'profile'}", *options, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
