from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from spectralcit.cli.bundle import bundled
from spectralcit.cli.options import Asking
from spectralcit.cli.shell import in_shell_words
from spectralcit.tables.reading import Reading


@dataclass(frozen=True)
class Pair:
    first: int = 1
    second: str = "b"


def test_a_bundle_is_one_argument_of_the_command_and_options_of_the_user():
    app = typer.Typer()
    options = {
        "first": Annotated[int, typer.Option("--first", min=0)],
        "second": Annotated[str, typer.Option()],
    }

    @app.command()
    @bundled("pair", Pair, options)
    def show(name: str, *, pair: Pair):
        typer.echo(f"{name} {pair}")

    run = CliRunner().invoke
    assert run(app, ["x"]).output == f"x {Pair()}\n"
    assert run(app, ["x", "--first", "3", "--second", "c"]).output == f"x {Pair(3, 'c')}\n"
    assert run(app, ["x", "--first", "-1"]).exit_code == 2
    assert "--second" in run(app, ["--help"]).output


@dataclass(frozen=True)
class Annotations:
    needed: Annotated[int, typer.Option("--needed")]
    other: Annotated[str, typer.Option("--other")] = "b"


def test_a_bundle_may_annotate_its_fields_and_need_some():
    app = typer.Typer()

    @app.command()
    @bundled("pair", Pair, {"second": Annotated[str, typer.Option()]})
    @bundled("own", Annotations)
    def show(own: Annotations, *, pair: Pair):
        typer.echo(f"{own} {pair}")

    run = CliRunner().invoke
    assert run(app, ["--needed", "2", "--second", "c"]).output == f"{Annotations(2)} {Pair(second='c')}\n"
    assert run(app, []).exit_code == 2


def test_messages_are_translated_to_options_of_the_command_line():
    said = in_shell_words("pass missing='drop', encoding='latin-1' or delimiter=';', not z=None or x='a'")
    assert said == "pass --missing drop, --encoding latin-1 or --delimiter ';', not z=None or x='a'"


def test_what_is_said_about_rows_is_no_variable_and_can_be_repeated(tmp_path):
    path = tmp_path / "visits.csv"
    lines = [f"{k % 7},{k % 5},{k % 3},p{k // 4}" for k in range(40)]
    path.write_text("\n".join(["a,b,c,patient", *lines]), encoding="utf-8")
    asked = Asking(str(path), "a", "b", "*", groups="patient").read(Reading())
    assert list(asked.z.columns) == ["c"]
    assert asked.rows["groups"].n == 40
    assert asked.question.rows == (("groups", "patient"),)
