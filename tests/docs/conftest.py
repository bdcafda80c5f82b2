"""The built site, once for all tests that look at it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="the site needs mkdocs-material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
    return folder
