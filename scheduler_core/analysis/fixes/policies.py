"""What to change in an object so that the expressions of a policy hold: a comparison says which value a field has to have."""

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.cel import Call, Ident, Literal, Node, Program, Select
from scheduler_core.apimachinery.cel.syntax.tree import Comprehension, ListNode
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.expressions import compile_expression, environment_of

Path = tuple[Any, ...]  # names of fields, and indices of elements
Edits = dict[Path, Any]  # None: the field goes

ANY, MOST = "to-be-chosen", 4  # alternatives of one expression
_AMOUNTS = {"cpu": "100m", "memory": "128Mi"}
# What a field may be set to that only has to be there. Whether it suits, the API server says.
_EXAMPLES: Mapping[str, Any] = {**_AMOUNTS, "limits": _AMOUNTS, "requests": _AMOUNTS}
_TWINS = {"limits": "requests", "requests": "limits"}
_INDEXES, _JOINS = ("_[_]", "_?._", "_[?_]"), ("_&&_", "_||_")
# By comparison: whether it holds, a value with which it does, its opposite, and what it is from the other side.
_COMPARISONS: Mapping[str, tuple[Callable[[Any, Any], bool], Callable[[Any, Any], Any], str, str]] = {
    "_==_": (operator.eq, lambda now, known: known, "_!=_", "_==_"),
    "_!=_": (operator.ne, lambda now, known: {bool: not known, str: ANY}.get(type(known)), "_==_", "_!=_"),
    "_<_": (operator.lt, lambda now, known: known - 1, "_>=_", "_>_"),
    "_<=_": (operator.le, lambda now, known: known, "_>_", "_>=_"),
    "_>_": (operator.gt, lambda now, known: known + 1, "_<=_", "_<_"),
    "_>=_": (operator.ge, lambda now, known: known, "_<_", "_<=_"),
    "@in": (lambda now, known: now in known, lambda now, known: known[0], "", ""),
    "startsWith": (str.startswith, lambda now, known: known + str(now or ANY).rpartition("/")[2], "", ""),
}


def satisfy(spec: Manifest, manifest: Manifest, params: Manifest) -> list[Edits]:
    """Return alternative edits of an object with which the validations of a policy may hold; none where a part cannot be read."""
    environment, compiled = environment_of(spec)
    programs = [compile_expression(environment, str(each["expression"])) for each in spec.get("validations") or ()]
    variables = {name: each.tree for name, each in compiled.items() if isinstance(each, Program)}
    reader = _Reader(manifest, params, variables)
    return [each for each in _all(reader.read(e.tree) for e in programs if isinstance(e, Program)) if each]


def build_patch(manifest: Manifest, edits: Edits) -> dict[str, Any] | None:
    """A strategic patch that makes edits, elements of lists by their names; None where one has no name."""
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


def _all(parts: Iterable[list[Edits]]) -> list[Edits]:
    """The alternatives in which all parts hold. A field that something within it is set in is there."""
    made: list[Edits] = [{}]
    for part in parts:
        pairs = zip(made, part, strict=True) if len(made) == len(part) else itertools.product(made, part)
        merged = ({**first, **more} for first, more in pairs)
        leaves = [{p: e[p] for p in e if not any(q[: len(p)] == p != q for q in e)} for e in merged]
        made = [each for i, each in enumerate(leaves) if each not in leaves[:i]][:MOST]
    return made


def _any(parts: Iterable[list[Edits]]) -> list[Edits]:
    """The alternatives in which one of the parts holds; where one does already, nothing is to be done."""
    made = [each for part in parts for each in part]
    return [{}] if {} in made else made


class _Reader:
    """Reads expressions about an object."""

    def __init__(self, manifest: Manifest, params: Manifest, variables: Mapping[str, Node]) -> None:
        self.manifest, self.params, self.variables = manifest, params, variables
        self.bound: dict[str, Path] = {"object": ()}  # with the variables of all() and exists()

    def read(self, expression: Node) -> list[Edits]:
        """Return the alternatives with which an expression holds; none where it fails on this object, as CEL does on other types."""
        try:
            return self.turn(expression, True)
        except (TypeError, ValueError, LookupError, AttributeError):
            return []

    def turn(self, given: Node, want: bool) -> list[Edits]:
        """Return the alternatives with which an expression becomes `want`: [{}] where it is, [] where none is known."""
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
        if function in _JOINS:
            parts = [self.turn(each, want) for each in sides]
            return _all(parts) if (function == _JOINS[0]) is want else _any(parts)
        if function == "hasValue":
            return self._exist(sides[0], want)
        if function == "@in" and isinstance(sides[0], Literal):
            return self._exist(Call("_[_]", None, [sides[1], sides[0]], 0, 0, 0), want)
        if function not in _COMPARISONS or len(sides) != 2:
            return []
        if self._path(sides[1]) is not None:
            sides, function = sides[::-1], _COMPARISONS[function][3]
        known = self._value(sides[1])
        if isinstance(known, bool) and self._path(sides[0]) is None and function in ("_==_", "_!=_"):
            return self.turn(sides[0], (known is want) is (function == "_==_"))
        function = function if want or not function else _COMPARISONS[function][2]
        return self._compare(function, sides[0], known) if function else []

    def _turn_each(self, node: Comprehension, want: bool) -> list[Edits]:
        """all() and exists() over the elements of a list."""
        path, step = self._path(node.range), node.step
        found = None if path is None else self._get(path)
        if not (isinstance(step, Call) and step.function in _JOINS) or isinstance(found, Mapping) or path is None:
            return []
        parts = []
        for index in range(len(found or ())):
            self.bound[node.first] = (*path, index)
            parts.append(self.turn(step.args[1], want))
        return _all(parts) if (step.function == _JOINS[0]) is want else _any(parts)

    def _exist(self, node: Node, want: bool) -> list[Edits]:
        """A field that is there, or is not."""
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
        is_named = isinstance(node, Select) and isinstance(node.operand, Ident) and node.operand.name == "variables"
        return self.variables.get(node.field, node) if is_named and isinstance(node, Select) else node

    def _path(self, given: Node) -> Path | None:
        """Return the way to a field of the object; None for what is something else."""
        node = self._resolve(given)
        if isinstance(node, Ident):
            return self.bound.get(node.name)
        before: Path | None = None
        part: Any = None
        if isinstance(node, Select) and not node.test:
            before, part = self._path(node.operand), node.field
        elif isinstance(node, Call) and node.function in _INDEXES and isinstance(node.args[1], Literal):
            before, part = self._path(node.args[0]), node.args[1].value
        elif isinstance(node, Call) and node.function == "orValue" and node.target is not None:
            return self._path(node.target)
        return None if before is None else (*before, part)

    def _value(self, given: Node) -> Any:
        """Return what does not depend on the object: a literal, a list of them, or a parameter; None for all else."""
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
