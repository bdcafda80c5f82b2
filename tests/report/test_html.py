from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from spectralcit import CITestResult, NullDistribution, ci_test, list_tests, prepare
from spectralcit.report import Question, html, write_report
from spectralcit.report.facts import command, python_code
from spectralcit.report.output import write_page
from spectralcit.tables import columns_matching

EVIL = "<script>alert(1)</script>"


def mixed(n=120):
    rng = np.random.default_rng(0)
    age = rng.normal(60, 10, n)
    stage = rng.choice(["I", "II", "III"], n)
    gene = np.sin(age / 8) + (stage == "II") + rng.normal(size=n)
    return {"gene": gene, "outcome": gene + rng.normal(size=n), "age": age, "stage": stage}


def report(tmp_path, method="spectral", question=None, columns=None, **params):
    import pandas as pd

    frame = pd.DataFrame(columns or mixed())
    names = list(frame)
    question = question or Question((names[0],), (names[1],), tuple(names[2:]), "study.csv")
    x, y, z = frame[list(question.x)], frame[list(question.y)], frame[list(question.z)]
    z = z if question.z else None
    result = ci_test(x, y, z, method=method, random_state=3, missing="drop", **params)
    data = prepare(x, y, z, missing="drop")
    file = write_report(result, tmp_path / "r.html", data=data, question=question, params=params)
    return result, file.read_text(encoding="utf-8")


class Outline(HTMLParser):
    """Tags with their attributes, and whether every element that was opened was closed."""

    EMPTY = {"meta", "link", "br", "hr", "img", "use", "path", "image", "rect"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    return report(tmp_path_factory.mktemp("default"))


def test_the_report_has_every_part(default):
    result, text = default
    assert not Outline(text).open
    for part in (
        "Is gene independent of outcome once age and stage are known?",
        "Evidence that gene and outcome depend on each other given age and stage.",
        "What it does not mean",
        "leading pair: mean product",
        "outcome by gene, coloured by",
        "outcome is higher where gene is higher (partial correlation +",
        "Taken for granted: the rows are independent of each other",
        "kinds of dependence",
        "strength of the leading pairs",
        "gene without Z, along ",
        "How well Z was removed",
        f"{result.diagnostics['x']['r_squared']:.3f}",
        "3 levels: ",
        "None had a missing value",
        repr(result.pvalue),
        ">scikit-learn</th>",
    ):
        assert part in text, part
    assert text.count("<svg") == 9
    stored = json.loads(unescape(re.search(r"JSON</summary><pre>(.*?)</pre>", text, re.DOTALL)[1]))
    assert CITestResult.from_dict(stored) == result


def test_nothing_in_the_page_points_outside_or_runs(default):
    _, text = default
    for tag, attributes in Outline(text).tags:
        assert tag not in {"script", "iframe", "object", "embed", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in {"src", "href", "xlink:href", "action"}:
                assert value.startswith(("#", "data:"))
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text


def test_names_levels_and_source_are_escaped(tmp_path):
    columns = mixed()
    columns = {
        EVIL: columns["gene"],
        "\"><img src=x onerror='a'>": columns["outcome"],
        "$a_{": columns["age"],
        "stage": [EVIL if s == "I" else s for s in columns["stage"]],
    }
    question = Question(tuple(columns)[:1], tuple(columns)[1:2], tuple(columns)[2:], f"/data/{EVIL}.csv")
    _, text = report(tmp_path, columns=columns, question=question)
    outline = Outline(text)
    assert {"script", "img"}.isdisjoint(tag for tag, _ in outline.tags)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_same_result_gives_the_same_page(tmp_path):
    question, data = Question(("a",), ("b",), ()), prepare(np.arange(30.0), np.arange(30.0) % 7)
    result = ci_test(np.arange(30.0), np.arange(30.0) % 7, method="fisher-z", random_state=0)
    first, second = (html.render(result, data, question, 0.05, {}, {}) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("alpha", [0.001, 0.2])
def test_the_level_decides_the_verdict(tmp_path, alpha):
    data = prepare(np.arange(30.0), np.arange(30.0) % 7)
    result = CITestResult(2.0, 0.0455, "toy", 30, NullDistribution("normal"))
    text = html.render(result, data, Question(("a",), ("b",), ()), alpha, {}, {})
    assert (">Evidence that a and b depend on each other." in text) == (alpha == 0.2)
    assert ("No evidence that a and b" in text) == (alpha == 0.001)


QUICK = ("fisher-z", "gcm", "kcit", "rcot", "pcm", "hsic", "chi2")


@pytest.mark.parametrize("method", [info.name for info in list_tests() if info.name in QUICK])
def test_any_test_gets_a_report(tmp_path, method):
    columns = mixed()
    if method == "chi2":
        columns = {name: np.arange(120) // k % 3 for k, name in ((1, "a"), (3, "b"), (9, "c"))}
    if method == "hsic":
        question = Question(("gene",), ("outcome",), ())
        result, text = report(tmp_path, method, question=question)
    else:
        result, text = report(tmp_path, method, columns=columns)
    assert not Outline(text).open
    assert result.method in text
    assert "leading pair: mean product" not in text


def test_a_degenerate_result_gets_a_report(tmp_path):
    columns = mixed()
    columns["outcome"] = columns["age"] * 2
    result, text = report(tmp_path, columns=columns)
    assert result.null.name == "degenerate"
    assert "function of Z" in text
    assert "No evidence that" in text


def test_parameters_that_the_result_does_not_match_give_no_pair(tmp_path):
    _, text = report(tmp_path, statistic="witness", null="normal")
    assert "leading pair: mean product" in text
    assert "parameter statistic" in text
    assert "--param statistic=witness --param null=normal" in text
    from sklearn.linear_model import LinearRegression

    columns = mixed()
    frame = [np.asarray(columns[name]) for name in ("gene", "outcome", "age")]
    params = {"nuisance": LinearRegression()}
    other = ci_test(*frame, random_state=3, **params)
    question = Question(("gene",), ("outcome",), ("age",))
    assert "leading pair: mean" not in html.render(other, prepare(*frame), question, 0.05, {}, {})
    text = html.render(other, prepare(*frame), question, 0.05, params, {"decimal": ","})
    assert "leading pair: mean" in text
    assert "Command line" not in text  # an estimator cannot be typed there
    assert "nuisance=LinearRegression()" in text
    assert "decimal=&#39;,&#39;" in text


def test_missing_rows_are_counted(tmp_path):
    columns = mixed()
    columns["age"][:7] = np.nan
    _, text = report(tmp_path, columns=columns)
    assert "113 rows were used. 7 rows were left out" in text
    assert "--missing drop" in text
    assert "missing=&#39;drop&#39;" in text


def test_the_code_repeats_the_pvalue(tmp_path, monkeypatch, capsys):
    import pandas as pd

    pd.DataFrame(mixed()).to_csv(tmp_path / "study.csv", index=False)
    question = Question(("gene",), ("outcome",), ("age", "stage"), "study.csv")
    result, _ = report(tmp_path, "gcm", question=question)
    monkeypatch.chdir(tmp_path)
    columns = mixed()
    data = prepare(columns["gene"], columns["outcome"], columns["age"])
    exec(compile(python_code(result, data, question), "report", "exec"), {})
    assert f"{result.statistic:.6g}" in capsys.readouterr().out


def test_the_command_selects_the_columns_whatever_their_names():
    import shlex

    names = ("a,b", "c*", "d:e", "!f", 'g"h', "i\\j", "it's", "k l", "m")
    result = CITestResult(1.0, 0.5, "gcm", 30, NullDistribution("normal"), seed=3)
    data = prepare(np.arange(30.0), np.arange(30.0) % 7)
    words = shlex.split(command(result, data, Question(("x",), ("y",), names), 0.05))
    assert columns_matching(words[words.index("--given") + 1], ["x", "y", "cc", *names]) == names


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_page(tmp_path / "r.html", "text")
    assert list(tmp_path.iterdir()) == []


def test_learned_directions_are_named(tmp_path):
    rng = np.random.default_rng(4)
    columns = {f"p{j}": rng.normal(size=600) for j in range(6)}
    columns |= {"outcome": columns["p2"] ** 2 + 0.3 * rng.normal(size=600), "age": rng.normal(size=600)}
    question = Question(tuple(f"p{j}" for j in range(6)), ("outcome",), ("age",), "study.csv")
    result, text = report(tmp_path, question=question, columns=columns)
    assert result.reject()
    section = unescape(text).partition("The directions that depend most")[2].partition("<h3>")[0]
    assert "the square of a direction" in section
    # The column that matters carries most of the direction.
    assert int(re.search(r"most of it p2 \((\d+)%\)", section)[1]) > 60
