"""Macros: calls that the parser expands into other expressions.

kube: vendor/github.com/google/cel-go/{parser/macro,ext/comprehensions,ext/lists,ext/bindings,cel/library}.go @ v1.34.1 (cel-go v0.26.0)
"""

from collections.abc import Callable, Sequence
from copy import deepcopy

from scheduler_core.apimachinery.cel.syntax.tree import (
    ACCUMULATOR,
    Call,
    Comprehension,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Message,
    Node,
    Select,
)

_FORMER_ACCUMULATOR = "__result__"
_UNUSED = "#unused"
_SORTED = "@__sortBy_input__"


class MacroError(ValueError):
    """An error of a macro's arguments. `at` is the position."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Maker:
    """A factory for the nodes of one expansion. All nodes have the position of the macro's call."""

    def __init__(self, start: int, end: int, at: int) -> None:
        self._range = (start, end, at)

    def literal(self, value: object) -> Literal:
        return Literal(value, *self._range)

    def ident(self, name: str = ACCUMULATOR) -> Ident:
        return Ident(name, *self._range)

    def list(self, *elements: Node) -> ListNode:
        return ListNode(list(elements), frozenset(), *self._range)

    def map(self) -> MapNode:
        return MapNode([], *self._range)

    def call(self, function: str, *args: Node) -> Call:
        return Call(function, None, list(args), *self._range)

    def member(self, function: str, target: Node, *args: Node) -> Call:
        return Call(function, target, list(args), *self._range)

    def test(self, operand: Node, field: str) -> Select:
        return Select(operand, field, True, *self._range)

    def fold(
        self,
        ranged: Node | None,
        names: tuple[str, str],
        init: Node,
        condition: Node,
        step: Node,
        result: Node,
        accumulator: str = ACCUMULATOR,
    ) -> Comprehension:
        assert ranged is not None  # only macros of members fold, and they have a target
        return Comprehension(ranged, *names, accumulator, init, condition, step, result, *self._range)

    def addition(self, element: Node) -> Call:
        """The accumulator with an element more."""
        return self.call("_+_", self.ident(), self.list(element))

    def collect(
        self, ranged: Node | None, names: tuple[str, str], empty: Node, step: Node, conditions: Sequence[Node]
    ) -> Comprehension:
        """A fold that begins with an empty list or map, and takes the step where the condition holds that may be given."""
        for condition in conditions:
            step = self.call("_?_:_", condition, step, self.ident())
        return self.fold(ranged, names, empty, self.literal(True), step, self.ident())

    def bind(self, name: str, value: Node, result: Node) -> Comprehension:
        """Bind a name to a value: a fold over an empty list whose accumulator is the value, evaluated on first use."""
        return self.fold(
            self.list(), (_UNUSED, ""), value, self.literal(False), self.ident(name), result, accumulator=name
        )


Expansion = Callable[[Maker, Node | None, list[Node]], Node | None]


def _name(node: Node, message: str) -> str:
    if not isinstance(node, Ident):
        raise MacroError(message, node.at)
    return node.name


def _loop_name(node: Node, message: str) -> str:
    name = _name(node, message)
    if name in (ACCUMULATOR, _FORMER_ACCUMULATOR):
        raise MacroError("iteration variable overwrites accumulator variable", node.at)
    return name


def _names(args: list[Node], two: bool) -> tuple[str, str]:
    if not two:
        return _loop_name(args[0], "argument must be a simple name"), ""
    first = _name(args[0], "argument must be a simple name")
    second = _name(args[1], "argument must be a simple name")
    if first == second:
        raise MacroError(f"duplicate variable name: {first}", args[1].at)
    return _loop_name(args[0], ""), _loop_name(args[1], "")


def _has(make: Maker, target: Node | None, args: list[Node]) -> Node:
    (arg,) = args
    if not isinstance(arg, Select):
        raise MacroError("invalid argument to has() macro", arg.at)
    return make.test(arg.operand, arg.field)


def _quantifier(init: object, condition: bool, two: bool) -> Expansion:
    """all and exists: `init` is what holds of an empty range."""

    def expand(make: Maker, target: Node | None, args: list[Node]) -> Node:
        names = _names(args, two)
        stop: Node = make.ident() if condition else make.call("!_", make.ident())
        step = make.call("_&&_" if condition else "_||_", make.ident(), args[-1])
        return make.fold(target, names, make.literal(init), make.call("@not_strictly_false", stop), step, make.ident())

    return expand


def _exists_one(two: bool) -> Expansion:
    def expand(make: Maker, target: Node | None, args: list[Node]) -> Node:
        names = _names(args, two)
        more = make.call("_+_", make.ident(), make.literal(1))
        step = make.call("_?_:_", args[-1], more, make.ident())
        result = make.call("_==_", make.ident(), make.literal(1))
        return make.fold(target, names, make.literal(0), make.literal(True), step, result)

    return expand


def _map(make: Maker, target: Node | None, args: list[Node]) -> Node:
    names = (_loop_name(args[0], "argument is not an identifier"), "")
    return make.collect(target, names, make.list(), make.addition(args[-1]), args[1:-1])


def _filter(make: Maker, target: Node | None, args: list[Node]) -> Node:
    names = (_loop_name(args[0], "argument is not an identifier"), "")
    return make.collect(target, names, make.list(), make.addition(args[0]), args[1:])


def _transform_list(make: Maker, target: Node | None, args: list[Node]) -> Node:
    return make.collect(target, _names(args, True), make.list(), make.addition(args[-1]), args[2:-1])


def _transform_map(entries: bool) -> Expansion:
    def expand(make: Maker, target: Node | None, args: list[Node]) -> Node:
        names = _names(args, True)
        inserted = (args[-1],) if entries else (make.ident(names[0]), args[-1])
        step = make.call("cel.@mapInsert", make.ident(), *inserted)
        return make.collect(target, names, make.map(), step, args[2:-1])

    return expand


def _opt_map(flat: bool) -> Expansion:
    word = "optFlatMap" if flat else "optMap"

    def expand(make: Maker, target: Node | None, args: list[Node]) -> Node:
        assert target is not None
        name = _name(args[0], f"{word}() variable name must be a simple identifier")
        # A second tree like the first, since a node has its types and overloads once only.
        bound: Node = make.bind(name, make.member("value", deepcopy(target)), args[1])
        if not flat:
            bound = make.call("optional.of", bound)
        return make.call("_?_:_", make.member("hasValue", target), bound, make.call("optional.none"))

    return expand


def _bind(make: Maker, target: Node | None, args: list[Node]) -> Node | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    name = _name(args[0], "cel.bind() variable names must be simple identifiers")
    return make.bind(name, args[1], args[2])


def _sort_by(make: Maker, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    if isinstance(target, Literal | MapNode | Message):
        raise MacroError(
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression", target.at
        )
    keys = _map(make, make.ident(_SORTED), args)
    return make.bind(_SORTED, target, make.member("@sortByAssociatedKeys", make.ident(_SORTED), keys))


MACROS: dict[tuple[str, int, bool], Expansion] = {
    # name, number of arguments, whether it is a member's
    ("has", 1, False): _has,
    ("all", 2, True): _quantifier(True, True, False),
    ("exists", 2, True): _quantifier(False, False, False),
    ("exists_one", 2, True): _exists_one(False),
    ("map", 2, True): _map,
    ("map", 3, True): _map,
    ("filter", 2, True): _filter,
    ("optMap", 2, True): _opt_map(False),
    ("optFlatMap", 2, True): _opt_map(True),
    ("all", 3, True): _quantifier(True, True, True),
    ("exists", 3, True): _quantifier(False, False, True),
    ("existsOne", 3, True): _exists_one(True),
    ("exists_one", 3, True): _exists_one(True),
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map(False),
    ("transformMap", 4, True): _transform_map(False),
    ("transformMapEntry", 3, True): _transform_map(True),
    ("transformMapEntry", 4, True): _transform_map(True),
    ("sortBy", 2, True): _sort_by,
    ("bind", 3, True): _bind,
}
