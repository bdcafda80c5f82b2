"""Options that belong together reach a command as one argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

__all__ = ["bundled"]


def bundled(
    name: str, bundle: type, options: Mapping[str, Any] | None = None
) -> Callable[[Callable], Callable]:
    """Decorator of commands: `options`, by field of the dataclass `bundle`, arrive as one argument `name`.

    Without `options` the fields of the bundle are annotated as options themselves.
    """
    options = get_type_hints(bundle, include_extras=True) if options is None else options
    required = inspect.Parameter.empty
    defaults = {each.name: required if each.default is MISSING else each.default for each in fields(bundle)}

    def decorate(command: Callable) -> Callable:
        signature = inspect.signature(command, eval_str=True)
        shown: list[inspect.Parameter] = []
        for key, parameter in signature.parameters.items():
            if key != name:
                shown.append(parameter)
                continue
            shown += [
                parameter.replace(name=option, annotation=kind, default=defaults[option])
                for option, kind in options.items()
            ]

        @functools.wraps(command)
        def call(**given: Any) -> Any:
            parts = {option: given.pop(option) for option in options}
            return command(**given, **{name: bundle(**parts)})

        call.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in shown}
        return call

    return decorate
