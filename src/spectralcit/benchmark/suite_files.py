"""Suites from files: TOML, Python, and those that come with the package.

A suite in TOML::

    name = "demo"
    seed = 1
    replicates = 50
    n = [200, 400]
    tests = ["fisher-z", "gcm"]

    [[datasets]]
    name = "sin-cos"
    d_z = [5, 20]  # a list is a grid
    b = 1.0

Tests with parameters are a table: ``[tests."gcm, forest"]`` with ``method = "gcm"`` and its parameters.
"""

from __future__ import annotations

import sys
import tomllib
import types
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ..errors import SpectralCITError, SuiteError, suggestion
from .spec import Suite
from .suite_content import read_content

__all__ = ["list_suites", "load_suite"]


def load_suite(where: str | Path) -> Suite:
    """Read a suite: a TOML file, a Python file that defines ``suite``, or the name of a shipped one.

    Parameters
    ----------
    where
        Path of the file, or a name from `list_suites`.

    Examples
    --------
    >>> load_suite("demo").name
    'demo'
    """
    path = Path(where)
    if str(where) in list_suites() and not path.exists():
        return _from_toml(_shipped(str(where)).read_bytes(), str(where))
    if path.suffix not in (".toml", ".py"):
        known = list_suites()
        raise SuiteError(
            f"{where}: neither a .toml or .py file nor a shipped suite.{suggestion(where, known)} "
            f"Shipped suites: {', '.join(known)}"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _from_toml(content, str(path)) if path.suffix == ".toml" else _from_python(content, path)


def list_suites() -> list[str]:
    """Names of the suites that come with the package.

    Examples
    --------
    >>> "demo" in list_suites()
    True
    """
    folder = resources.files(__package__) / "suites"
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def _shipped(name: str) -> Any:
    return resources.files(__package__) / "suites" / f"{name}.toml"


def _from_toml(content: bytes, source: str) -> Suite:
    try:
        parsed = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SuiteError(f"{source}: not valid TOML: {error}") from error
    return read_content(parsed, source)


def _from_python(content: bytes, path: Path) -> Suite:
    """Run the file and take its ``suite``.

    The module is in ``sys.modules`` only while it runs: what it defines is then sent to workers by value, as
    they cannot import the file.
    """
    module = types.ModuleType(f"spectralcit_suite_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)
    except SpectralCITError as error:
        raise SuiteError(f"{path}: {error}") from error
    except Exception as error:
        raise SuiteError(f"{path}: failed with {type(error).__name__}: {error}") from error
    finally:
        del sys.modules[module.__name__]
    found = module.__dict__.get("suite")
    if isinstance(found, Mapping):
        return read_content(found, str(path))
    if not isinstance(found, Suite):
        raise SuiteError(f"{path}: must define 'suite', a Suite or a mapping with the content of one")
    return found
