"""No regular expression of ours takes time out of proportion on any text.

regexploit looks at each for repeats that compete for the same characters.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from regexploit.ast.sre import SreOpParser
from regexploit.redos import find

import playground
import scheduler_core

# What can be cut in so many places is cubic at least; a pattern that is only quadratic is left to the tests with growing texts.
WORST = 2


class Parser(SreOpParser):  # type: ignore[misc]
    """Also reads what gives nothing back once it has matched: it is passed over once, however much it takes."""

    def from_POSSESSIVE_REPEAT(self, data: Any) -> Any:
        _, _, elements = data
        return self.sequence_or_singleton(elements)

    def from_ATOMIC_GROUP(self, data: Any) -> Any:
        return self.sequence_or_singleton(data)


def modules() -> Iterator[ModuleType]:
    for package in (scheduler_core, playground):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def patterns() -> dict[str, set[tuple[str | bytes, int]]]:
    """The pattern and flags of each expression, by where it is: compiled in a module, or written into a call."""
    found: dict[str, set[tuple[str | bytes, int]]] = {}
    for module in modules():
        own = {(each.pattern, each.flags) for each in vars(module).values() if isinstance(each, re.Pattern)}
        tree = ast.parse(Path(str(module.__file__)).read_text())
        if every := own | set(written(tree)):
            found[module.__name__] = every
    return found


def written(tree: ast.Module) -> Iterator[tuple[str | bytes, int]]:
    """What stands as text in calls of re's functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            pattern = node.args[0]
            if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str | bytes):
                yield pattern.value, 0


def faults(pattern: str | bytes, flags: int = 0) -> list[str]:
    """The texts that it takes long on."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    parsed = Parser().parse_sre(text, flags & ~re.UNICODE)
    return [each.example() for each in find(parsed, flags) if each.starriness > WORST]


def test_no_pattern_of_ours_backtracks_out_of_proportion() -> None:
    found = patterns()
    assert sum(map(len, found.values())) > 60
    slow = {(where, each[0]): faults(*each) for where, every in found.items() for each in every}
    assert {at: examples for at, examples in slow.items() if examples} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        # What once read the beginning of mixed texts: 40 line breaks were enough.
        r'(?:[ \t\n\r]+|---(?=[ \t\n\r]))*(?:\{[ \t\n\r]*(?:"|\})|\[)',
        rb"\s*\s*\s*x",
    ],
)
def test_what_backtracks_is_found(pattern: str | bytes) -> None:
    assert faults(pattern)


@pytest.mark.parametrize("pattern", [r"(?:a++)*+$", r"(?>a+)b", r"[^/]*/[^/]*"])
def test_what_gives_nothing_back_is_left_alone(pattern: str) -> None:
    assert faults(pattern) == []
