from __future__ import annotations

import re
import shlex
from html import unescape

import numpy as np
from typer.testing import CliRunner

from spectralcit.cli import app


def test_the_command_and_the_code_in_the_report_repeat_the_pvalue(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f};{b:.3f};{c}".replace(".", ",")
        for a, b, c in zip(*rng.normal(size=(2, 80)), rng.integers(3, size=80), strict=True)
    ]
    text = "größe;y, z;ward\n" + "\n".join(rows)
    (tmp_path / "d.csv").write_bytes(text.encode("latin-1"))
    options = "--x größe --y '\"y, z\"' --given ward --categorical ward --encoding latin-1 --decimal ,"
    first = f"test d.csv {options} --delimiter semicolon --method gcm --param n_bootstrap=200 --seed 4"
    done = CliRunner().invoke(app, [*shlex.split(first), "--report", "r.html"])
    assert done.exit_code == 0, done.output
    page = unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    pvalue = re.search(r"p-value, exactly</th><td>([^<]*)<", page)[1]
    command, code = re.findall(r"<pre>(.*?)</pre>", page, flags=re.DOTALL)[:2]
    again = CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"])
    assert f'"pvalue": {pvalue}' in again.stdout
    exec(compile(code, "report", "exec"), {})
    statistic = re.search(r"statistic, exactly</th><td>([^<]*)<", page)[1]
    assert f"{float(statistic):.6g}" in capsys.readouterr().out
