"""Contexts: what the templates read is what the presenters declare, no more and no less."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict, get_origin, is_typeddict

import pytest
from django.template import engines

from playground.presenters import PANELS
from tests.page_reads import PAGE, PageWalk, contexts, page_reads
from tests.template_reads import Reads, Walk, bases_of, declared, environment, panel_reads

ROOT = Path(__file__).resolve().parents[1]


class Cell(TypedDict):
    text: str


class Table(TypedDict):
    kind: Literal["table"]
    rows: list[list[Cell]]
    unheard_of: int


class Note(TypedDict):
    kind: Literal["note"]
    words: Any


@cache
def read_elsewhere() -> frozenset[str]:
    """The names of items that some module reads, `row["name"]` and `row.get("name")`, or a page without a typed presenter."""
    names = set()
    for path in (ROOT / "playground").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Load()):
                    names.add(name)
                case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
                    names.add(name)
    walked = {template.partition("/")[0] for template, _ in contexts()}
    for path in (ROOT / "templates").rglob("*.html"):
        if path.relative_to(ROOT / "templates").parts[0] not in {"panels", *walked}:
            names.update(re.findall(r"\.(\w+)", path.read_text()))
    return frozenset(names)


def unread(reads: Reads) -> list[str]:
    """The declared fields that neither a template nor a module reads."""
    found: dict[Any, dict[str, Any]] = {}
    for root in reads.roots:
        declared(root, found)
    read = {(owner, name) for kind, names in reads.fields.items() for name in names for owner in owners(kind, name)}
    return sorted(
        f"{owner.__module__}.{owner.__name__}.{name}"
        for kind, names in found.items()
        if is_typeddict(get_origin(kind) or kind)
        for name in names
        for owner in owners(kind, name)
        if name not in read_elsewhere() and (owner, name) not in read
    )


def owners(kind: Any, name: str) -> list[Any]:
    """The classes that declare a field, which types that extend them share."""
    kind = get_origin(kind) or kind
    bases = bases_of(kind) if is_typeddict(kind) else []
    return [owner for base in bases if name in base.__annotations__ for owner in owners(base, name)] or [kind]


@cache
def every_read() -> Reads:
    reads = panel_reads(PANELS)
    for template, given in contexts():
        page_reads(reads, template, given)
    return reads


def test_templates_read_only_what_presenters_declare() -> None:
    assert list(every_read().errors) == []


def test_what_presenters_declare_is_read() -> None:
    assert unread(every_read()) == []


def test_every_panel_and_the_pages_with_a_typed_presenter_are_walked() -> None:
    walked = {name for name, _ in every_read()._walked}
    assert {f"{name}.html" for name in PANELS} <= walked
    pages = ("metrics", "journey", "lockstep", "comparison", "fixes", "cluster")
    assert {
        "metrics/statistics.html",
        "fixes/problems.html",
        "fixes/why_not.html",
        *(f"{name}/page.html" for name in pages),
    } <= walked


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{% for row in body.rows %}{% for c in row %}{{ c.text }}{% endfor %}{% endfor %}", ""),
        ('{% if body.kind == "note" %}{{ body.rows }}{% endif %}', "reads .rows, which Note lacks"),
        ('{% if body.kind == "table" %}{{ body.rows.0.0.txt }}{% endif %}', "reads .txt, which Cell lacks"),
        ("{{ body.words.text }}", "reads .text of Any"),
        ("{{ boby }}", "reads boby, which nothing gives"),
    ],
)
def test_a_panels_read_of_something_undeclared_is_an_error(template: str, error: str) -> None:
    reads = Reads()
    Walk(reads, "x", {"body": Table | Note}).statements(environment().parse(template).body)
    assert list(reads.errors) == ([f"x {error}"] if error else [])


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{% for row in body.rows %}{% for c in row %}{{ c.text }}{% endfor %}{% endfor %}", ""),
        ("{% with b=body %}{{ b.rows.0.0.txt|upper }}{% endwith %}", "reads .txt, which Cell lacks"),
        ('{% if body.kind == "note" %}{{ body.rows }}{% endif %}', "reads .rows, which Note lacks"),
        ("{% cycle body.rows.0.0 body.rows.1.0 as cell silent %}{{ cell.txt }}", "reads .txt, which Cell lacks"),
        ("{{ boby.rows }}", "reads boby, which nothing gives"),
    ],
)
def test_a_pages_read_of_something_undeclared_is_an_error(template: str, error: str) -> None:
    reads = Reads()
    page = engines["django"].from_string(template).template
    PageWalk(reads, "x", {"body": Table | Note, PAGE: Cell}).nodes(page.nodelist)
    assert list(reads.errors) == ([f"x {error}"] if error else [])


def test_a_field_that_nothing_reads_is_found() -> None:
    reads = Reads(roots=[Table])
    Walk(reads, "x", {"body": Table}).statements(environment().parse("{{ body.kind }}").body)
    assert unread(reads) == ["tests.test_contexts.Table.unheard_of"]
