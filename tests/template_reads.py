"""Reads of templates: walks a template's syntax tree with the types of its context, and records each field that the template reads.

A template gets its types from the presenter of its name. A name or a field that no type has is an error, as is a read from `Any`.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from django.template import engines
from jinja2 import nodes

TEMPLATES = Path(__file__).resolve().parents[1] / "templates/panels"
PRESENTERS = "playground.presenters"
# The names that each template has: from the page or the delta, from Django, from Jinja2.
GIVEN: dict[str, Any] = {"oob": bool, "id": str, "csrf_input": str, "csrf_token": str, "true": bool, "false": bool}
LOOP = {"first": bool, "last": bool, "index": int, "index0": int, "length": int}

Types = dict[str, Any]


def members(kind: Any) -> list[Any]:
    """The types that a union has, without None; other types alone."""
    origin = get_origin(kind)
    if origin in (Required, NotRequired):
        return members(get_args(kind)[0])
    if origin in (Union, types.UnionType):
        return [one for part in get_args(kind) for one in members(part)]
    return [] if kind is type(None) else [kind]


@cache
def bases_of(kind: Any) -> list[Any]:
    """The types that a TypedDict extends; before Python 3.12 only its source says so."""
    (node,) = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(node, ast.ClassDef)
    named = [getattr(sys.modules[kind.__module__], ast.unparse(base), None) for base in node.bases]
    return [base for base in named if is_typeddict(base)]


def union(kinds: Iterable[Any]) -> Any:
    found = list(dict.fromkeys(one for kind in kinds for one in members(kind)))
    return Union[tuple(found)] if found else type(None)  # noqa: UP007 - made of any number


@cache
def fields_of(kind: Any) -> Types | None:
    """The fields of a TypedDict, a dataclass or a struct; None of another type."""
    origin = get_origin(kind) or kind
    if not (
        is_typeddict(origin)
        or is_dataclass(origin)
        or hasattr(origin, "__struct_fields__")
        or hasattr(origin, "_fields")
    ):
        return None
    given = dict(zip(getattr(origin, "__parameters__", ()), get_args(kind), strict=False))
    return {name: fill(hint, given) for name, hint in get_type_hints(origin).items()}


def fill(kind: Any, given: Mapping[Any, Any]) -> Any:
    """A type with type variables replaced."""
    if isinstance(kind, TypeVar):
        return given.get(kind, Any)
    parameters = getattr(kind, "__parameters__", ())
    return kind[tuple(given.get(one, Any) for one in parameters)] if parameters else kind


def items_of(kind: Any) -> Any:
    """The type of what a loop over a value yields."""
    found = []
    for one in members(kind):
        origin, arguments = get_origin(one), get_args(one)
        if one is Any:
            found.append(Any)
        elif origin is tuple and arguments[-1] is not Ellipsis:
            found += arguments
        elif isinstance(origin, type) and issubclass(origin, Iterable):
            found.append(arguments[0])
        elif one is str:
            found.append(str)
        else:
            raise LookupError(f"loops over {one}")
    return union(found)


@dataclass
class Reads:
    """`fields`: each read field of each type; `errors`: reads of what no type has."""

    fields: dict[Any, set[str]] = field(default_factory=dict)
    errors: dict[str, None] = field(default_factory=dict)
    roots: list[Any] = field(default_factory=list)
    _walked: set[Any] = field(default_factory=set)

    def template(self, name: str, given: Types) -> None:
        """Walk a template with the types of its context."""
        self.roots += [kind for kind in given.values() if not isinstance(kind, dict)]
        walked = (name, tuple(sorted((key, str(kind)) for key, kind in given.items())))
        if walked not in self._walked:
            self._walked.add(walked)
            Walk(self, name, dict(given)).statements(parse(name).body)

    def whole(self, kind: Any) -> None:
        """Record that all of a value is read, such as by a filter that makes JSON of it."""
        for one in members(kind):
            fields = fields_of(one)
            if fields is not None and self.fields.get(one) != set(fields):
                self.fields[one] = set(fields)
                for inner in fields.values():
                    self.whole(inner)
            elif get_args(one) and get_origin(one) is not Literal:
                for inner in get_args(one):
                    self.whole(inner)


@cache
def environment() -> Any:
    return engines["panels"].env  # type: ignore[attr-defined]  # Django's Jinja2 backend


@cache
def parse(name: str) -> nodes.Template:
    source = environment().loader.get_source(environment(), name)[0]
    return environment().parse(source, name)  # type: ignore[no-any-return]


@dataclass
class Walk:
    reads: Reads
    name: str
    given: Types

    def error(self, text: str) -> None:
        self.reads.errors[f"{self.name} {text}"] = None

    def inside(self, more: Types, body: Sequence[nodes.Node]) -> None:
        Walk(self.reads, self.name, self.given | more).statements(body)

    def statements(self, body: Sequence[nodes.Node]) -> None:
        for node in body:
            getattr(self, f"of_{type(node).__name__.lower()}")(node)

    def of_output(self, node: nodes.Output) -> None:
        for each in node.nodes:
            self.reads.whole(self.type(each))

    def of_if(self, node: nodes.If) -> None:
        self.type(node.test)
        self.inside(self.narrowed(node.test), node.body)
        self.statements(node.elif_)
        self.statements(node.else_)

    def of_for(self, node: nodes.For) -> None:
        try:
            item = items_of(self.type(node.iter))
        except LookupError as error:
            self.error(str(error))
            item = Any
        self.inside({**self.targets(node.target, item), "loop": LOOP}, node.body)
        self.statements(node.else_)

    def of_with(self, node: nodes.With) -> None:
        values = [self.type(value) for value in node.values]
        names = [target.name for target in node.targets if isinstance(target, nodes.Name)]
        self.inside(dict(zip(names, values, strict=True)), node.body)

    def of_scope(self, node: nodes.Scope) -> None:
        self.inside({}, node.body)

    def of_assign(self, node: nodes.Assign) -> None:
        self.given |= self.targets(node.target, self.type(node.node))

    def of_include(self, node: nodes.Include) -> None:
        """Of a name that is put together, each template that a type or a presenter has."""
        if isinstance(node.template, nodes.Const):
            return self.reads.template(str(node.template.value), self.given)
        assert isinstance(node.template, nodes.Concat), (
            "an included template is named by a text or by texts joined with ~"
        )
        before, part, after = node.template.nodes
        kind, begin, end = self.type(part), before.value, after.value  # type: ignore[attr-defined]
        every = [path.name.removeprefix(begin.rpartition("/")[2]) for path in TEMPLATES.glob(f"{begin}*{end}")]
        presented = [name.removesuffix(end) for name in every if "_" not in name and body_of(begin + name)]
        for name in words_of(kind, presented):
            template = f"{begin}{name}{end}"
            narrowed = self.narrowed(nodes.Compare(part, [nodes.Operand("eq", nodes.Const(name))]))
            self.reads.template(template, self.given | narrowed | body_of(template))

    def targets(self, target: nodes.Node, kind: Any) -> Types:
        if isinstance(target, nodes.Name):
            return {target.name: kind}
        parts = get_args(kind) or (Any,) * len(target.items)  # type: ignore[attr-defined]
        return {one.name: part for one, part in zip(target.items, parts, strict=True)}  # type: ignore[attr-defined]

    def narrowed(self, test: nodes.Expr) -> Types:
        """The types of names after `x.kind == "word"`, which only some types of a union can hold."""
        if isinstance(test, nodes.And):
            return self.narrowed(test.left) | self.narrowed(test.right)
        match test:
            case nodes.Compare(
                expr=nodes.Getattr(node=nodes.Name(name=name), attr=attr),
                ops=[nodes.Operand(op="eq", expr=nodes.Const(value=word))],
            ):
                kinds = members(self.given.get(name))
                left = [one for one in kinds if word in words_of((fields_of(one) or {}).get(attr), (word,))]
                return {name: union(left)} if left else {}
        return {}

    def type(self, node: nodes.Node) -> Any:
        """The type of an expression."""
        match node:
            case nodes.Const(value=value):
                return type(value)
            case nodes.Name(name=name):
                if name not in self.given and name not in GIVEN:
                    self.error(f"reads {name}, which nothing gives")
                return self.given.get(name, GIVEN.get(name, Any))
            case nodes.Getattr(node=owner, attr=attr):
                return self.read(node, self.type(owner), attr)
            case nodes.Getitem(node=owner, arg=nodes.Const(value=key)):
                return self.read(node, self.type(owner), key)
            case nodes.Getitem(node=owner, arg=nodes.Slice()):
                return self.type(owner)
            case nodes.Getitem(node=owner, arg=index):
                self.type(index)
                return self.read(node, self.type(owner), 0)
            case nodes.Filter(node=value, name=name):
                return self.filtered(node, name, self.type(value) if value is not None else None)
            case nodes.Call(node=nodes.Getattr(node=owner, attr="items")):
                return union(list[tuple[str, one]] for one in self.values(self.type(owner)))  # type: ignore[valid-type]
            case nodes.Call(node=nodes.Getattr(node=owner, attr="values")):
                return union(list[one] for one in self.values(self.type(owner)))  # type: ignore[valid-type]
            case nodes.CondExpr(expr1=one, expr2=other, test=test):
                self.type(test)
                return union([self.type(one), self.type(other) if other is not None else None])
            case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
                return union([self.type(left), self.type(right)])
            case nodes.Slice() | nodes.TemplateData() | nodes.ContextReference():
                return str
        parts = [self.type(child) for child in node.iter_child_nodes()]
        return (
            bool
            if isinstance(node, nodes.Compare | nodes.Not | nodes.Test)
            else parts[0]
            if isinstance(node, nodes.BinExpr)
            else str
        )

    def values(self, kind: Any) -> list[Any]:
        return [get_args(one)[1] if get_args(one) else Any for one in members(kind)]

    def filtered(self, node: nodes.Filter, name: str, value: Any) -> Any:
        """A filter reads all of what it gets; `in_language` takes one value of a dict."""
        for each in (*node.args, *(word.value for word in node.kwargs)):
            self.reads.whole(self.type(each))
        if name == "in_language":
            return union(self.values(value))
        if name != "length":
            self.reads.whole(value)
        return {"length": int}.get(name, str)

    def read(self, node: nodes.Node, kind: Any, attr: str | int) -> Any:
        """Record a read of a field, and return its type."""
        found = []
        for one in members(kind):
            if one is Any:
                self.error(f"reads .{attr} of Any")
                found.append(Any)
            elif isinstance(one, dict):
                found.append(one[attr])
            elif (fields := fields_of(one)) is not None:
                if attr in fields:
                    self.reads.fields.setdefault(one, set()).add(str(attr))
                    found.append(fields[str(attr)])
            elif isinstance(attr, int):
                found.append(items_of(one))
            elif isinstance(get_origin(one), type) and issubclass(get_origin(one), Mapping):
                found.append(get_args(one)[1])
        if not found and kind is not None:
            self.error(f"reads .{attr}, which {getattr(kind, '__name__', kind)} lacks")
            return Any
        return union(found)


def words_of(kind: Any, otherwise: Sequence[str] = ()) -> Sequence[str]:
    """The words that a type can hold; `otherwise` where it names none."""
    found = [word for one in members(kind) if get_origin(one) is Literal for word in get_args(one)]
    return found or otherwise


def body_of(template: str) -> Types:
    """The body that the presenter of the template's name makes, and its cards."""
    parts = template.removesuffix(".html").replace("/", ".").replace("_", ".", 1)
    try:
        present = import_module(f"{PRESENTERS}.{parts}").present
    except (ImportError, AttributeError):
        return {}
    made = get_type_hints(present)["return"]
    return {"body": (fields_of(made) or {}).get("body", made)}


def panel_reads(panels: Mapping[str, Any]) -> Reads:
    """The reads of all panels' templates and of their cards'."""
    reads = Reads()
    for name, present in panels.items():
        panel = get_type_hints(present)["return"]
        _, card = get_args(panel)
        reads.template(f"{name}.html", {"panel": panel})
        if (TEMPLATES / f"{name}_card.html").exists():
            reads.template(f"{name}_card.html", {"card": card})
    return reads


def declared(kind: Any, found: dict[Any, Types] | None = None) -> dict[Any, Types]:
    """All types with fields that a type reaches."""
    found = {} if found is None else found
    for one in members(kind):
        fields = fields_of(one)
        if fields is None:
            for inner in get_args(one) if get_origin(one) is not Literal else ():
                declared(inner, found)
        elif one not in found:
            found[one] = fields
            for inner in fields.values():
                declared(inner, found)
    return found
