"""Calls of functions and operators at run time, and the folding of constant calls at planning time.

kube: vendor/github.com/google/cel-go/interpreter/{planner,interpretable,decorators}.go, common/decls/decls.go @ v1.34.1 (cel-go v0.26.0)
"""

from collections.abc import Callable, Sequence

from scheduler_core.apimachinery.cel.declarations import FUNCTIONS, Function, Overload
from scheduler_core.apimachinery.cel.library import BINDINGS
from scheduler_core.apimachinery.cel.library.strings import BadPattern, compile_pattern
from scheduler_core.apimachinery.cel.limits import Cancelled, check_hashable, take_steps
from scheduler_core.apimachinery.cel.operators import equal
from scheduler_core.apimachinery.cel.running.cost import CallCost, call_cost
from scheduler_core.apimachinery.cel.running.frame import COST, LIMIT, OVER, Frame, Run
from scheduler_core.apimachinery.cel.syntax.tree import Call
from scheduler_core.apimachinery.cel.types import Kind, Type
from scheduler_core.apimachinery.cel.values import (
    LIST_KINDS,
    NO_OVERLOAD,
    Failure,
    Uint,
    classes_of,
    type_of_value,
    value_of_key,
)

_CONVERSIONS = frozenset(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"])
_PATTERNS = {"matches": "matches", "find": "string_find_string", "findAll": "string_find_all_string"}
_CONSTANT_TIME = frozenset(["dyn", "size", "type"])  # however long their argument is
_PRIMITIVES = (bool, float, int, str, Uint)


class Constant:
    """A value that is known at planning time. Its evaluation is free."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def run(self) -> Run:
        value = self.value
        return lambda frame: value


def fold_call(node: Call, plans: Sequence[object], error: type[ValueError]) -> Constant | None:
    """A conversion of a constant; `error` where it fails."""
    if node.function == "@in" and node.overloads == ("in_list",) and isinstance(plans[1], Constant):
        return Constant(False) if plans[1].value == [] else None
    if node.function not in _CONVERSIONS or len(plans) != 1 or not isinstance(plans[0], Constant):
        return None
    value = _bind_call(node, 1)[0](plans[0].value)
    if isinstance(value, Failure):
        raise error(value.message)
    return Constant(value)


def plan_call(node: Call, plans: Sequence[object], runs: Sequence[Run], error: type[ValueError]) -> Run:
    """The call with its cost."""
    overload = node.overloads[0] if len(node.overloads) == 1 else ""
    if node.function == "_==_":
        return _both(_equals, runs, call_cost("_==_", "equals"))
    if node.function == "_!=_":
        return _both(_differs, runs, call_cost("_!=_", "not_equals"))
    if node.function == "@not_strictly_false":
        return _not_strictly_false(runs[0])
    if node.function == "@in" and overload == "in_list" and isinstance(plans[1], Constant):
        members = _members(plans[1].value)
        if members is not None:
            return _member_of(runs[0], members)
    function, binding = _bind_call(node, len(runs))
    cost = call_cost(node.function, overload)
    if node.function in _PATTERNS and isinstance(plans[1], Constant) and isinstance(plans[1].value, str):
        binding = "F"
        try:
            compile_pattern(plans[1].value)
        except BadPattern as problem:
            raise error(str(problem)) from None
        function = _of_text(BINDINGS[_PATTERNS[node.function]])
    if cost is None and len(runs) == 1 and node.function not in _CONSTANT_TIME:
        function = _count_text(function)
    if binding == "F" or len(runs) > 2 or not runs:
        return _any(function, runs, cost)
    return _one(function, runs[0], cost) if len(runs) == 1 else _both(function, runs, cost)


# --- which implementation


def _bind_call(node: Call, count: int) -> tuple[Callable[..., object], str]:
    """Return the implementation and its binding: U and B evaluate all arguments first, F stops at the first error."""
    function = FUNCTIONS[node.function]
    if function.singleton:
        return BINDINGS[function.name], function.singleton
    if len(node.overloads) == 1:
        overload = next(one for one in function.overloads if one.id == node.overloads[0])
        implementation = BINDINGS[overload.id]
        if not function.guarded:
            return implementation, overload.binding
        return _guard_types(function, overload, implementation), overload.binding
    if len(function.overloads) == 1:
        return _build_dispatcher(function), function.overloads[0].binding
    return _build_dispatcher(function), "F"


def _guard_types(
    function: Function, overload: Overload, implementation: Callable[..., object]
) -> Callable[..., object]:
    tests = [_test(a_type) for a_type in overload.arguments]

    def guarded(*args: object) -> object:
        for test, arg in zip(tests, args, strict=True):
            if not test(arg):
                return no_such_overload(function.name, args)
        return implementation(*args)

    return guarded


def _build_dispatcher(function: Function) -> Callable[..., object]:
    """Build a function that calls the first overload whose types match the arguments. If classes alone decide, matches are cached by
    class.
    """
    choices = [
        (len(overload.arguments), [_test(a_type) for a_type in overload.arguments], BINDINGS[overload.id])
        for overload in function.overloads
        if overload.binding
    ]
    arguments = [a_type for overload in function.overloads for a_type in overload.arguments]
    by_class = all(a_type.kind not in (Kind.LIST, Kind.MAP) for a_type in arguments)
    known: dict[tuple[type, ...], Callable[..., object]] = {}

    def chosen(args: Sequence[object]) -> Callable[..., object]:
        for count, tests, implementation in choices:
            if count == len(args):
                if not function.guarded or all(test(arg) for test, arg in zip(tests, args, strict=True)):
                    return implementation
        return lambda *values: no_such_overload(function.name, values)

    def dispatched(*args: object) -> object:
        if not by_class:
            return chosen(args)(*args)
        classes = tuple([arg.__class__ for arg in args])
        implementation = known.get(classes)
        if implementation is None:
            implementation = known[classes] = chosen(args)
        return implementation(*args)

    return dispatched


def no_such_overload(name: str, args: Sequence[object]) -> Failure:
    kinds = ", ".join(type_of_value(arg).name for arg in args)
    return Failure(f"no such overload: {name}({kinds})")


def _test(a_type: Type) -> Callable[[object], bool]:
    """Return a test of a value's type that checks as much as cel-go: only the first element of a list or map."""
    if a_type.kind in (Kind.DYN, Kind.ANY, Kind.PARAM):
        return lambda value: True
    if a_type.kind not in (Kind.LIST, Kind.MAP):
        classes = classes_of(a_type)
        return lambda value: value.__class__ in classes
    inner = [_test(part) for part in a_type.params]
    return _list_test(*inner) if a_type.kind is Kind.LIST else _map_test(*inner)


def _list_test(element: Callable[[object], bool]) -> Callable[[object], bool]:
    def test(value: object) -> bool:
        return isinstance(value, LIST_KINDS) and (not value or element(value[0]))

    return test


def _map_test(key: Callable[[object], bool], held: Callable[[object], bool]) -> Callable[[object], bool]:
    def test(value: object) -> bool:
        if not isinstance(value, dict) or not value:
            return isinstance(value, dict)
        first, second = next(iter(value.items()))
        return key(value_of_key(first)) and held(second)

    return test


def _of_text(implementation: Callable[..., object]) -> Callable[..., object]:
    """Wrap a function with a constant regular expression: check only the type of the text."""

    def of_text(text: object, *args: object) -> object:
        return implementation(text, *args) if isinstance(text, str) else NO_OVERLOAD

    return of_text


# --- how they run


def _count_text(function: Callable[..., object]) -> Callable[..., object]:
    """Wrap a function that costs 1 in kube, even of a long text that it reads."""

    def counted(value: object) -> object:
        if isinstance(value, str | bytes):
            take_steps(len(value) >> 3)
        return function(value)

    return counted


def _one(function: Callable[..., object], arg: Run, cost: CallCost | None) -> Run:
    if cost is None:
        return _one_cheap(function, arg)

    def one(frame: Frame) -> object:
        value = arg(frame)
        result = value if value.__class__ is Failure else function(value)
        spent = frame[COST] = frame[COST] + cost((value,), result)
        if spent > frame[LIMIT]:
            raise Cancelled(OVER)
        return result

    return one


def _one_cheap(function: Callable[..., object], arg: Run) -> Run:
    """A call that costs 1."""

    def one(frame: Frame) -> object:
        value = arg(frame)
        result = value if value.__class__ is Failure else function(value)
        spent = frame[COST] = frame[COST] + 1
        if spent > frame[LIMIT]:
            raise Cancelled(OVER)
        return result

    return one


def _both(function: Callable[..., object], args: Sequence[Run], cost: CallCost | None) -> Run:
    first, second = args
    price: CallCost = cost or _one_unit

    def both(frame: Frame) -> object:
        left = first(frame)
        right = second(frame)
        if left.__class__ is Failure:
            result: object = left
        elif right.__class__ is Failure:
            result = right
        else:
            result = function(left, right)
        spent = frame[COST] = frame[COST] + price((left, right), result)
        if spent > frame[LIMIT]:
            raise Cancelled(OVER)
        return result

    return both


def _one_unit(args: Sequence[object], result: object) -> int:
    return 1


def _any(function: Callable[..., object], args: Sequence[Run], cost: CallCost | None) -> Run:
    last = len(args) - 1

    def any_number(frame: Frame) -> object:
        values: list[object] = []
        result: object = None
        for index, arg in enumerate(args):
            value = arg(frame)
            values.append(value)
            if value.__class__ is Failure:
                if index < last:
                    return value
                result = value
        if result is None:
            result = function(*values)
        spent = frame[COST] = frame[COST] + (1 if cost is None else cost(values, result))
        if spent > frame[LIMIT]:
            raise Cancelled(OVER)
        return result

    return any_number


def _equals(left: object, right: object) -> object:
    return equal(left, right)


def _differs(left: object, right: object) -> object:
    return equal(left, right) is not True


def _not_strictly_false(arg: Run) -> Run:
    def not_strictly_false(frame: Frame) -> object:
        value = arg(frame)
        spent = frame[COST] = frame[COST] + 1
        if spent > frame[LIMIT]:
            raise Cancelled(OVER)
        return value if value.__class__ is bool else True

    return not_strictly_false


# --- constant lists


def _members(values: object) -> frozenset[tuple[str, object]] | None:
    """Return the values of a constant list with their kinds, or None if some values are not primitive."""
    assert isinstance(values, LIST_KINDS)
    found: set[tuple[str, object]] = set()
    for value in values:
        if value.__class__ not in _PRIMITIVES:
            return None
        found.add(_member(value))
    return frozenset(found)


def _member(value: object) -> tuple[str, object]:
    """Return a value with its kind. All numbers are one kind, as 1, 1u, and 1.0 are the same member."""
    return ("number" if value.__class__ in (int, Uint, float) else value.__class__.__name__, value)


def _member_of(arg: Run, members: frozenset[tuple[str, object]]) -> Run:
    def member_of(frame: Frame) -> object:
        value = arg(frame)
        if value.__class__ is Failure:
            return value
        if value.__class__ in _PRIMITIVES:
            return _member(value) in members
        check_hashable(value)
        return False

    return member_of
