"""Reads of pages: walks Django's templates of a feature with the types that its views give them.

The types come from the views' own code: a context's dict holds `**present(...)`, whose return type names the fields, and values that a
function with a return type made. Other names, such as the session, have no type here, and what is read of them is not checked.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints, is_typeddict

from django.template import Node, NodeList, engines
from django.template.base import FilterExpression, Variable
from django.template.defaulttags import CycleNode, ForNode, IfNode, WithNode
from django.template.loader_tags import IncludeNode

from playground.sessions.protocol.base import answer_of
from tests.template_reads import Reads, Types, Walk, declared, fields_of, items_of, members, union

ROOT = Path(__file__).resolve().parents[1]
PAGE = "*"  # stands for the types whose fields are a page's own names
DJANGOS = ("request", "csrf_token", "forloop", "block", "True", "False", "None")
FEATURES = ROOT / "playground/features"


def contexts() -> Iterator[tuple[str, Types]]:
    """The templates that a feature's views render, with the types that these views give them by name."""
    for path in sorted(FEATURES.glob("*/views.py")):
        module, tree = (import_module(f"playground.features.{path.parent.name}.views"), ast.parse(path.read_text()))
        given: Types = {}
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                given |= of_view(function, vars(module))
        dicts = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
        keys = [key.value for node in dicts for key in node.keys if isinstance(key, ast.Constant)]
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        named = [
            text for text in texts if text.startswith(f"{path.parent.name}/")
        ]  # one without .html has a word put behind it
        for template in sorted((ROOT / "templates" / path.parent.name).glob("*.html")):
            name = f"{path.parent.name}/{template.name}"
            if given and any(name == text or (".html" not in text and name.startswith(text)) for text in named):
                yield name, dict.fromkeys(keys, Any) | given


def of_view(function: ast.FunctionDef | ast.AsyncFunctionDef, module: dict[str, Any]) -> Types:
    """The names that a view's dicts give, as far as functions with a return type made their values."""
    local: Types = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            kind = made_by(node.value, module)
            match node.targets[0]:
                case ast.Name(id=name) if kind is not None:
                    local[name] = kind
                case ast.Tuple(elts=elements) if typing.get_origin(kind) is tuple:
                    local |= {
                        e.id: k for e, k in zip(elements, get_args(kind), strict=False) if isinstance(e, ast.Name)
                    }
    given: Types = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            kind = local.get(value.id) if isinstance(value, ast.Name) else made_by(value, module)
            if key is None and (fields := fields_of(kind) if kind is not None else None):
                given |= fields | {PAGE: union([given.get(PAGE), kind])}
            elif isinstance(key, ast.Constant) and kind is not None and any(map(is_typeddict, declared(kind))):
                given[str(key.value)] = kind
    return given


def made_by(value: ast.expr, module: dict[str, Any]) -> Any:
    """The return type of the function that is called, where it says one, or of the request that is asked."""
    if isinstance(value, ast.Await):
        value = value.value
    match value:
        case ast.Call(func=ast.Attribute(attr="ask"), args=[ast.Call(func=ast.Name(id=request))]) if isinstance(
            module.get(request), type
        ):
            return answer_of(module[request])
    match value:
        case ast.Call(func=ast.Name(id=name)):
            function = module.get(name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=name)) if isinstance(module.get(of), ModuleType):
            function = getattr(module[of], name)
        case _:
            return None
    if not str(getattr(function, "__module__", "")).startswith("playground.") or isinstance(function, type):
        return None
    return get_type_hints(function).get("return")


class PageWalk(Walk):
    """The walk over nodes of Django's instead of Jinja2's."""

    def nodes(self, body: NodeList | list[Node]) -> None:
        for node in body:
            self.node(node)

    def deeper(self, more: Types, body: NodeList) -> None:
        PageWalk(self.reads, self.name, self.given | more).nodes(body)

    def node(self, node: Any) -> None:
        match node:
            case ForNode():
                self.loop(node)
            case IfNode():
                for test, body in node.conditions_nodelists:
                    self.values(test)
                    self.deeper(self.left(test), body)
            case WithNode():
                self.deeper({name: self.kind(value) for name, value in node.extra_context.items()}, node.nodelist)
            case CycleNode():
                self.given |= {node.variable_name: union(self.kind(each) for each in node.cyclevars)}
            case IncludeNode():
                more = {name: self.kind(value) for name, value in node.extra_context.items()}
                if isinstance(node.template.var, str):
                    page_reads(self.reads, node.template.var, more if node.isolated_context else self.given | more)
            case _:
                self.values(node)

    def values(self, holder: Any) -> None:
        """Read all expressions that a node holds, and walk its parts."""
        for name in (getattr(holder, "asvar", None), getattr(holder, "target_var", None)):
            self.given |= {name: Any} if name else {}
        for value in vars(holder).values() if hasattr(holder, "__dict__") else ():
            for each in (
                value if isinstance(value, list | tuple) else value.values() if isinstance(value, dict) else (value,)
            ):
                if isinstance(each, FilterExpression):
                    self.reads.whole(self.kind(each))
                elif isinstance(each, Node):
                    self.node(each)
                elif type(each).__module__ in ("django.template.smartif", "django.template.defaulttags"):
                    self.test(each)
            if isinstance(value, NodeList):
                self.deeper({}, value)

    def test(self, test: Any) -> None:
        for each in (getattr(test, "first", None), getattr(test, "second", None), getattr(test, "value", None)):
            if isinstance(each, FilterExpression):
                self.kind(each)
            elif each is not None:
                self.test(each)

    def left(self, test: Any) -> Types:
        """The types that `x.kind == "word"` leaves of a union."""
        first, second = getattr(test, "first", None), getattr(test, "second", None)
        if getattr(test, "id", "") != "==" or first is None or not isinstance(getattr(second.value, "var", None), str):
            return {}
        path = getattr(getattr(first.value, "var", None), "lookups", None) or ()
        if len(path) != 2 or path[0] not in self.given:
            return {}
        kinds = [
            k for k in members(self.given[path[0]]) if second.value.var in get_args((fields_of(k) or {}).get(path[1]))
        ]
        return {path[0]: union(kinds)} if kinds else {}

    def loop(self, node: Any) -> None:
        kind = self.kind(node.sequence)
        item = items_of(kind) if members(kind) and Any not in members(kind) else Any
        parts = get_args(item) if len(node.loopvars) > 1 else (item,)
        names = dict(zip(node.loopvars, parts or (Any,) * len(node.loopvars), strict=False))
        self.deeper(names, node.nodelist_loop)
        self.nodes(node.nodelist_empty)

    def kind(self, value: Any) -> Any:
        """The type of an expression; a filter reads all of it, and what it makes is not checked."""
        if not isinstance(value, FilterExpression):
            return Any
        kind: Any = Any
        if isinstance(value.var, Variable) and value.var.lookups:
            first, *path = value.var.lookups
            if PAGE in self.given and first not in self.given and first not in DJANGOS:
                self.error(f"reads {first}, which nothing gives")
            kind = self.given.get(first, Any)
            for page in members(self.given.get(PAGE)):
                if first in (fields_of(page) or {}):
                    self.reads.fields.setdefault(page, set()).add(first)
            for attr in path:
                kind = self.read_of(kind, attr)
        for function, arguments in value.filters:
            for is_variable, argument in arguments:
                if is_variable and argument.lookups:
                    self.kind(FilterExpression(argument.var, value_parser()))
            if function.__name__ not in ("default",):
                self.reads.whole(kind)
                kind = Any
        return kind

    def read_of(self, kind: Any, attr: str) -> Any:
        if kind is Any or not members(kind) or Any in members(kind):
            return Any
        if attr == "items":
            return union(list[tuple[str, get_args(one)[1]]] for one in members(kind) if get_args(one))  # type: ignore[misc]
        return self.read(None, kind, int(attr) if attr.isdigit() else attr)  # type: ignore[arg-type]


def value_parser() -> Any:
    from django.template.base import Parser

    return Parser([])


def page_reads(reads: Reads, template: str, given: Types) -> Reads:
    walked = (template, tuple(sorted((key, str(kind)) for key, kind in given.items())))
    if walked not in reads._walked:
        reads._walked.add(walked)
        reads.roots += [kind for kind in given.values() if not isinstance(kind, dict)]
        page = engines["django"].get_template(template).template  # type: ignore[attr-defined]
        PageWalk(reads, template, dict(given)).nodes(page.nodelist)
    return reads
