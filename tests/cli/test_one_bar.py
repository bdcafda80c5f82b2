"""In a terminal a command draws one bar, also when the test could draw its own."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = str(Path(sys.executable).with_name("spectralcit"))
BAR, SPINNER = re.compile("[━╸╺]{5,}"), "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"  # what rich draws


def screen_of(*arguments: str) -> str:
    """All that a command writes to a pseudo-terminal as its standard error."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=slave, env=environment
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(master)
    assert process.wait(timeout=60) == 0
    return seen.decode()


@pytest.mark.parametrize(("method", "bars"), [("crt", {"testing (crt)"}), ("fisher-z", set())])
def test_one_bar_for_a_test_that_tells_how_far_it_is_and_a_spinner_for_others(tmp_path, method, bars):
    path = tmp_path / "data.csv"
    values = np.random.default_rng(0).normal(size=(200, 3))
    np.savetxt(path, values, delimiter=",", header="a,b,c", comments="")
    said = screen_of("test", str(path), "--x", "a", "--y", "b", "--given", "c", "--method", method)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said))
    assert {BAR.split(line)[0].strip(f" {SPINNER}") for line in lines if BAR.search(line)} == bars
    assert f"testing ({method})" in said
