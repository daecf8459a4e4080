"""The JSONPath that kube allows in a custom resource's columns: fields, indices, wildcards, and simple filters.

kube: client-go/util/jsonpath @ v0.34.1
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

_STEP = re.compile(
    r"""\.(?P<field>(?:\\.|[^.\[\]\\])+)|\[(?P<index>-?\d+)\]|\[(?P<all>\*)\]|\[['"](?P<name>[^'"]+)['"]\]"""
    r"""|\[\?\(@\.(?P<key>[\w.]+)\s*==\s*['"](?P<value>[^'"]*)['"]\)\]"""
)


@cache
def _steps(path: str) -> tuple[dict[str, str | None], ...]:
    return tuple(match.groupdict() for match in _STEP.finditer(path))


def find_path(value: Any, path: str) -> list[Any]:
    """Return the values at a path, or none."""
    found = [value]
    for step in _steps(path):
        found = [inner for each in found for inner in _follow(each, step)]
    return found


def _follow(value: Any, step: Mapping[str, str | None]) -> list[Any]:
    name = step["name"] or (step["field"] or "").replace("\\", "")
    if step["all"] or name == "*":
        return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    if name:
        return [value[name]] if isinstance(value, Mapping) and name in value else []
    if not isinstance(value, list):
        return []
    if step["index"] is not None:
        number = int(step["index"])
        return [value[number]] if -len(value) <= number < len(value) else []
    return [
        each for each in value if isinstance(each, Mapping) and find_path(each, f".{step['key']}") == [step["value"]]
    ]
