"""Compares values with declared types at run time."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict


def mismatches(value: object, declared: Any, where: str = "result") -> Iterator[str]:
    """Sentences about the parts of a value that are not of the declared type, and about undeclared fields."""
    origin, options = get_origin(declared), get_args(declared)
    if declared is Any:
        return
    if origin in (Union, types.UnionType):
        found = [list(mismatches(value, option, where)) for option in options]
        if all(found):
            yield from min(found, key=len)
    elif origin is Literal:
        if not any(value == option and type(value) is type(option) for option in options):
            yield f"{where} is {value!r}, not one of {options}"
    elif origin is list:
        if not isinstance(value, list):
            yield f"{where} is a {type(value).__name__}, not a list"
            return
        for index, item in enumerate(value):
            yield from mismatches(item, options[0], f"{where}[{index}]")
    elif origin is dict:
        if not isinstance(value, dict):
            yield f"{where} is a {type(value).__name__}, not a dict"
            return
        for key, item in value.items():
            yield from mismatches(item, options[1], f"{where}[{key!r}]")
    elif is_typeddict(declared):
        yield from _fields(value, get_type_hints(declared, include_extras=True), where)
    elif declared in (None, type(None)):
        if value is not None:
            yield f"{where} is {value!r}, not None"
    elif type(value) is not declared:
        yield f"{where} is a {type(value).__name__}, not {declared.__name__}"


def _fields(value: object, hints: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is a {type(value).__name__}, not a dict"
        return
    for name in value.keys() - hints.keys():
        yield f"{where} has the undeclared field {name}"
    for name, hint in hints.items():
        is_optional = get_origin(hint) is NotRequired
        if name in value:
            yield from mismatches(value[name], get_args(hint)[0] if is_optional else hint, f"{where}.{name}")
        elif not is_optional:
            yield f"{where} lacks {name}"
