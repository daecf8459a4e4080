"""Edits of an object that make a policy's expressions true: a comparison shows the value that a field needs."""

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.cel import Call, Ident, Literal, Node, Program, Select, matches
from scheduler_core.apimachinery.cel.syntax.tree import Comprehension, ListNode
from scheduler_core.apimachinery.objects import Manifest, nanos
from scheduler_core.apiserver.expressions import compile_expression, environment_of
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity

Path = tuple[Any, ...]  # names of fields, and indices of elements
Edits = dict[Path, Any]  # None: remove the field

ANY, MOST = "to-be-chosen", 4  # alternatives of one expression
_AMOUNTS = {"cpu": "100m", "memory": "128Mi"}
# Example values for fields that only have to exist. The API server decides whether they suit.
_EXAMPLES: Mapping[str, Any] = {**_AMOUNTS, "limits": _AMOUNTS, "requests": _AMOUNTS}
_TWINS = {"limits": "requests", "requests": "limits"}
_INDEXES, _JOINS = ("_[_]", "_?._", "_[?_]"), ("_&&_", "_||_")
# By comparison: the test, a value for which it holds, the negation, and the comparison with swapped sides.
_COMPARISONS: Mapping[str, tuple[Callable[[Any, Any], bool], Callable[[Any, Any], Any], str, str]] = {
    "_==_": (operator.eq, lambda now, known: known, "_!=_", "_==_"),
    "_!=_": (operator.ne, lambda now, known: {bool: not known, str: ANY}.get(type(known)), "_==_", "_!=_"),
    "_<_": (operator.lt, lambda now, known: known - 1, "_>=_", "_>_"),
    "_<=_": (operator.le, lambda now, known: known, "_>_", "_>=_"),
    "_>_": (operator.gt, lambda now, known: known + 1, "_<=_", "_<_"),
    "_>=_": (operator.ge, lambda now, known: known, "_<_", "_<=_"),
    "@in": (lambda now, known: now in known, lambda now, known: known[0], "", ""),
    "startsWith": (str.startswith, lambda now, known: known + str(now or ANY).rpartition("/")[2], "", ""),
    "endsWith": (str.endswith, lambda now, known: str(now or ANY) + known, "!endsWith", ""),
    "!endsWith": (
        lambda now, known: not now.endswith(known),
        lambda now, known: now[: -len(known)] + known[0] + ANY,
        "",
        "",
    ),
    "matches": (lambda now, known: matches(now, known) is True, lambda now, known: _match(now, known), "", ""),
}
_OF_AMOUNTS = {"isLessThan": "_<_", "isGreaterThan": "_>_"}
_IS_THERE = (("_>_", 0), ("_>=_", 1), ("_!=_", 0))  # of a size


def satisfy(spec: Manifest, manifest: Manifest, params: Manifest) -> list[Edits]:
    """Return alternative edits of an object that may meet a policy's validations, or [] if a part cannot be read."""
    environment, compiled = environment_of(spec)
    programs = [compile_expression(environment, str(each["expression"])) for each in spec.get("validations") or ()]
    variables = {name: each.tree for name, each in compiled.items() if isinstance(each, Program)}
    reader = _Reader(manifest, params, variables)
    return [each for each in _all(reader.read(e.tree) for e in programs if isinstance(e, Program)) if each]


def build_patch(manifest: Manifest, edits: Edits) -> dict[str, Any] | None:
    """Return a strategic patch that makes the edits, with list elements by name. Return None if an element has no name."""
    patch: dict[str, Any] = {}
    for path, value in edits.items():
        within: Any = patch
        there: Any = manifest
        for part, following in zip(path, (*path[1:], None), strict=True):
            there = there[part] if isinstance(part, int) else (there.get(part) or {})
            if isinstance(part, int):
                if "name" not in there:
                    return None
                if all(each["name"] != there["name"] for each in within):
                    within.append({"name": there["name"]})
                within = next(each for each in within if each["name"] == there["name"])
            elif following is None:
                within[part] = value
            else:
                within = within.setdefault(part, [] if isinstance(following, int) else {})
    return patch


def _match(now: Any, pattern: str) -> str | None:
    """Return a text like `now` that a pattern matches, if the pattern's beginning is sufficient."""
    start = re.sub(r"\((?:\?:)?([^()|]*)\|?[^()]*\)", r"\1", pattern.lstrip("^"))
    prefix = re.sub(r"\\(.)", r"\1", re.match(r"(?:[\w/:-](?![*?{])|\\\W)*", start)[0])  # type: ignore[index]
    name = str(now or ANY).rpartition("/")[2]
    ends = (name, f"{name.partition(':')[0]}:1", "", "0", "1", "a", ANY)
    return next((prefix + end for end in ends if matches(prefix + end, pattern) is True), None)


def _all(parts: Iterable[list[Edits]]) -> list[Edits]:
    """Return the alternatives that satisfy all parts. A field exists if an edit sets a field within it."""
    made: list[Edits] = [{}]
    for part in parts:
        pairs = zip(made, part, strict=True) if len(made) == len(part) else itertools.product(made, part)
        merged = ({**first, **more} for first, more in pairs)
        leaves = [{p: e[p] for p in e if not any(q[: len(p)] == p != q for q in e)} for e in merged]
        made = [each for i, each in enumerate(leaves) if each not in leaves[:i]][:MOST]
    return made


def _any(parts: Iterable[list[Edits]]) -> list[Edits]:
    """Return the alternatives that satisfy one of the parts. If a part already holds, no edit is needed."""
    made = [each for part in parts for each in part]
    return [{}] if {} in made else made


class _Reader:
    """A reader of expressions about an object."""

    def __init__(self, manifest: Manifest, params: Manifest, variables: Mapping[str, Node]) -> None:
        self.manifest, self.params, self.variables = manifest, params, variables
        self.bound: dict[str, Path | Node] = {"object": ()}  # with the variables of all() and exists()

    def read(self, expression: Node) -> list[Edits]:
        """Return the alternatives that make an expression true, or [] if it fails on this object, as CEL does on other types."""
        try:
            return self.turn(expression, True)
        except (TypeError, ValueError, LookupError, AttributeError):
            return []

    def turn(self, given: Node, want: bool) -> list[Edits]:
        """Return the alternatives that make an expression `want`: [{}] if it already is, [] if none is known."""
        node = self._resolve(given)
        if isinstance(node, Comprehension):
            return self._turn_each(node, want)
        if isinstance(node, Select):
            return self._exist(node, want) if node.test else self._compare("_==_", node, want)
        if not isinstance(node, Call):
            return []
        function, sides = node.function, [*([node.target] if node.target is not None else []), *node.args]
        if function == "!_":
            return self.turn(sides[0], not want)
        if function == "_?_:_":
            return _any(_all([self.turn(sides[0], i == 1), self.turn(sides[i], want)]) for i in (1, 2))
        if function in _JOINS:
            parts = [self.turn(each, want) for each in sides]
            return _all(parts) if (function == _JOINS[0]) is want else _any(parts)
        if function == "hasValue":
            return self._exist(sides[0], want)
        if function == "@in" and isinstance(key := self._resolve(sides[0]), Literal):
            return self._exist(Call("_[_]", None, [sides[1], key], 0, 0, 0), want)
        if isinstance(of := sides[0], Call) and of.function == "compareTo":
            sides = [*filter(None, [of.target]), *of.args]
        function = _OF_AMOUNTS.get(function, function)
        if isinstance(of := sides[0], Call) and of.function == "size" and isinstance(number := sides[1], Literal):
            return self._exist((of.target or of.args[0]), want) if (function, number.value) in _IS_THERE else []
        if function not in _COMPARISONS or len(sides) != 2:
            return []
        if len(amounts := [e.args[0] for e in sides if isinstance(e, Call) and e.function == "quantity"]) == len(sides):
            return self._weigh(function, amounts, want)
        if self._path(sides[1]) is not None:
            sides, function = sides[::-1], _COMPARISONS[function][3]
        known = self._value(sides[1])
        if isinstance(known, bool) and self._path(sides[0]) is None and function in ("_==_", "_!=_"):
            return self.turn(sides[0], (known is want) is (function == "_==_"))
        function = function if want or not function else _COMPARISONS[function][2]
        return self._compare(function, sides[0], known) if function else []

    def _weigh(self, function: str, sides: list[Node], want: bool) -> list[Edits]:
        """Return the alternatives for a comparison of quantities."""
        if self._path(sides[1]) is not None:
            sides, function = sides[::-1], _COMPARISONS[function][3]
        path, known = self._path(sides[0]), self._value(sides[1])
        if path is None or not isinstance(known, str):
            return []
        holds = _COMPARISONS[function if want else _COMPARISONS[function][2]][0]
        bound, now = nanos(known), self._get(path)
        if now is not None and holds(nanos(now), bound):
            return [{}]
        other = (bound // 2 if holds(0, bound) else 2 * bound) // (10**6 if path[-1] == "cpu" else 10**9)
        return [{path: known if holds(bound, bound) else quantity(path[-1], other)}]

    def _turn_each(self, node: Comprehension, want: bool) -> list[Edits]:
        """Return the alternatives for all() and exists() over the elements of a list."""
        path, step = self._path(node.range), node.step
        elements = node.range.elements if isinstance(node.range, ListNode) else ()
        found = elements if path is None else self._get(path)
        if not (isinstance(step, Call) and step.function in _JOINS) or isinstance(found, Mapping):
            return []
        parts = []
        for index, element in enumerate(found or ()):
            self.bound[node.first] = element if path is None else (*path, index)
            parts.append(self.turn(step.args[1], want))
        return _all(parts) if (step.function == _JOINS[0]) is want else _any(parts)

    def _exist(self, node: Node, want: bool) -> list[Edits]:
        """Return the alternatives with which a field exists, or does not exist."""
        path = self._path(Select(node.operand, node.field, False, 0, 0, 0) if isinstance(node, Select) else node)
        if path is None or (self._get(path) is not None) is want:
            return [] if path is None else [{}]
        example, twin = _EXAMPLES.get(path[-1]), self._get(tuple(_TWINS.get(part, part) for part in path))
        example = {**example, **(twin or {})} if isinstance(example, dict) else example and (twin or example)
        values = [None] if not want else [example] if example else [ANY, True, 1, {}]
        return [{path: value} for value in values]

    def _compare(self, function: str, node: Node, known: Any) -> list[Edits]:
        path, (holds, choose, *_) = self._path(node), _COMPARISONS[function]
        if path is None or known is None:
            return []
        now = self._get(path)
        if now is None and isinstance(node, Call) and node.function == "orValue":
            now = self._value(node.args[0])
        if now is not None and holds(now, known):
            return [{}]
        return [{path: value}] if (value := choose(now, known)) is not None else []

    def _get(self, path: Path) -> Any:
        found: Any = self.manifest
        for part in path:
            found = found[part] if isinstance(part, int) else (found or {}).get(part)
        return found

    def _resolve(self, node: Node) -> Node:
        if isinstance(node, Ident) and isinstance(bound := self.bound.get(node.name), Node):
            return bound
        is_named = isinstance(node, Select) and isinstance(node.operand, Ident) and node.operand.name == "variables"
        return self.variables.get(node.field, node) if is_named and isinstance(node, Select) else node

    def _path(self, given: Node) -> Path | None:
        """Return the path to a field of the object, or None for other expressions."""
        node = self._resolve(given)
        if isinstance(node, Ident):
            bound = self.bound.get(node.name)
            return bound if isinstance(bound, tuple) else None
        before: Path | None = None
        part: Any = None
        if isinstance(node, Select) and not node.test:
            before, part = self._path(node.operand), node.field
        elif isinstance(node, Call) and node.function in _INDEXES:
            key = self._resolve(node.args[1])
            before, part = (self._path(node.args[0]), key.value) if isinstance(key, Literal) else (None, None)
        elif isinstance(node, Call) and node.function == "orValue" and node.target is not None:
            return self._path(node.target)
        return None if before is None else (*before, part)

    def _value(self, given: Node) -> Any:
        """Return a value that does not depend on the object: a literal, a list of literals, or a parameter. Otherwise return None."""
        node = self._resolve(given)
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, ListNode):
            return [self._value(each) for each in node.elements] or None
        if isinstance(node, Call) and node.function == "int":
            return int(self._value(node.args[0]) or 0)
        if isinstance(node, Select):
            return (self._value(node.operand) or {}).get(node.field)
        return self.params if isinstance(node, Ident) and node.name == "params" else None
