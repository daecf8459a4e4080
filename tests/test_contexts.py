"""Contexts: what the templates read is what the presenters declare, no more and no less."""

import ast
from functools import cache
from pathlib import Path
from typing import Any, get_origin, is_typeddict

from playground.presenters import PANELS
from tests.template_reads import bases_of, declared, panel_reads

ROOT = Path(__file__).resolve().parents[1]


@cache
def read_in_python() -> frozenset[str]:
    """The names of items that some module reads: `row["name"]` and `row.get("name")`."""
    names = set()
    for path in (ROOT / "playground").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Load()):
                    names.add(name)
                case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
                    names.add(name)
    return frozenset(names)


def unread(roots: list[Any], fields: dict[Any, set[str]]) -> list[str]:
    """The declared fields that neither a template nor a module reads."""
    found: dict[Any, dict[str, Any]] = {}
    for root in roots:
        declared(root, found)
    read = {(owner, name) for kind, names in fields.items() for name in names for owner in owners(kind, name)}
    return sorted(
        f"{owner.__module__}.{owner.__name__}.{name}"
        for kind, names in found.items()
        for name in names
        for owner in owners(kind, name)
        if name not in read_in_python() and (owner, name) not in read
    )


def owners(kind: Any, name: str) -> list[Any]:
    """The classes that declare a field, which types that extend them share."""
    kind = get_origin(kind) or kind
    bases = bases_of(kind) if is_typeddict(kind) else []
    return [owner for base in bases if name in base.__annotations__ for owner in owners(base, name)] or [kind]


def test_a_panels_templates_read_only_what_its_presenter_declares() -> None:
    assert list(panel_reads(PANELS).errors) == []


def test_what_a_presenter_declares_is_read() -> None:
    reads = panel_reads(PANELS)
    assert unread(reads.roots, reads.fields) == []
