"""From a checked tree to closures: one per node, so that an evaluation looks at no node again.

Lists, maps and conversions of constants are computed here, once, and cost nothing later; `in` a constant list of
primitive values costs nothing either. An accumulator's first value is computed when it is first read.

kube: vendor/github.com/google/cel-go/interpreter/{planner,interpretable,decorators}.go @ v1.34.1 (cel-go v0.26.0)
"""

from collections.abc import Iterable, Sequence

from scheduler_core.apimachinery.cel.checking.checker import TYPE_NAMES
from scheduler_core.apimachinery.cel.limits import Cancelled, InternalError, check_hashable
from scheduler_core.apimachinery.cel.running.attributes import Attribute, Conditional, Qualifier, bad_index
from scheduler_core.apimachinery.cel.running.calls import Constant, fold_call, plan_call
from scheduler_core.apimachinery.cel.running.cost import LIST, MAP
from scheduler_core.apimachinery.cel.running.frame import COST, FIRST_SLOT, LIMIT, OVER, SEEN, UNSET, Frame, Run
from scheduler_core.apimachinery.cel.syntax import tree
from scheduler_core.apimachinery.cel.texts import go_type, go_value
from scheduler_core.apimachinery.cel.values import (
    LIST_KINDS,
    NO_OVERLOAD,
    NOTHING,
    Failure,
    MutableList,
    MutableMap,
    Optional,
    key_of,
    value_of_key,
)

# Comprehensions at run time: what all, exists, map and the others become.
# kube: vendor/github.com/google/cel-go/interpreter/interpretable.go @ v1.34.1 (cel-go v0.26.0)


def fold(ranged: Run, names: tuple[int, int | None], accumulator: int, condition: Run, step: Run, result: Run) -> Run:
    """Return the run of a comprehension. `names`: the slots of the loop's variables; the second is None if there is one variable."""
    first, second = names

    def folded(frame: Frame) -> object:
        values = ranged(frame)
        if values.__class__ is Failure:
            return values
        pairs = _pairs(values, second is not None)
        if isinstance(pairs, Failure):
            return pairs
        frame[accumulator] = UNSET
        for one, other in pairs:
            frame[first] = one
            if second is not None:
                frame[second] = other
            if condition(frame) is False:
                break
            frame[accumulator] = step(frame)
        value = result(frame)
        if value.__class__ is MutableList:
            return list(value)
        return dict(value) if value.__class__ is MutableMap else value

    return folded


def _pairs(values: object, two: bool) -> Iterable[tuple[object, object]] | Failure:
    """Return the values of the variables, one pair per iteration, or a Failure."""
    if isinstance(values, dict):
        return ((value_of_key(key), held) for key, held in values.items())
    if isinstance(values, LIST_KINDS):
        return enumerate(values) if two else ((value, None) for value in values)
    if two:
        return Failure(f"unsupported comprehension range type: {go_type(values)}")
    return Failure(f"got '{go_type(values)}', expected iterable type")


Plan = Constant | Attribute | Run
MOST_SEEN = 10_000  # values of one evaluation that are watched


class PlanError(ValueError):
    """An error of a checked expression that can't be planned, such as int('x')."""


class Planner:
    """A builder of closures from a checked tree. `watched`: the closures record the value of every sub-expression in the frame."""

    def __init__(self, variables: Sequence[str], watched: bool) -> None:
        self._watched = watched
        self._slots: list[dict[str, tuple[int, Run | None]]] = [
            {name: (FIRST_SLOT + index, None) for index, name in enumerate(variables)}
        ]
        self.width = FIRST_SLOT + len(variables)

    def run(self, node: tree.Node) -> Run:
        """The node as a closure, with its cost."""
        return self._finish(node, self.plan(node))

    def _finish(self, node: tree.Node, plan: Plan) -> Run:
        if isinstance(plan, Attribute):
            run = plan.observed()
        elif isinstance(plan, Constant):
            run = plan.run()
        else:
            run = plan
        return _record_run(run, node.start, node.end) if self._watched else run

    def plan(self, node: tree.Node) -> Plan:
        match node:
            case tree.Literal():
                return Constant(node.value)
            case tree.Ident():
                return self._ident(node)
            case tree.Select():
                return self._select(node)
            case tree.Call():
                return self._call(node)
            case tree.ListNode():
                return self._list(node)
            case tree.MapNode():
                return self._map(node)
            case tree.Comprehension():
                ranged, init = self.run(node.range), self.run(node.init)
                accumulator, first, second = self._slot(), self._slot(), self._slot()
                self._slots.append({node.accumulator: (accumulator, init)})
                names = {node.first: first, **({node.second: second} if node.second else {})}
                self._slots.append({name: (slot, None) for name, slot in names.items()})
                condition, step = self.run(node.condition), self.run(node.step)
                self._slots.pop()
                result = self.run(node.result)
                self._slots.pop()
                return fold(ranged, (first, second if node.second else None), accumulator, condition, step, result)
        raise TypeError(node)

    # --- attributes

    def _ident(self, node: tree.Ident) -> Plan:
        if node.is_type:
            return Constant(TYPE_NAMES[node.name].params[0])
        for scope in reversed(self._slots):
            if node.name in scope:
                slot, init = scope[node.name]
                return Attribute(_variable(slot) if init is None else _accumulator(slot, init))
        raise PlanError(f"no such attribute(s): {node.name}")

    def _select(self, node: tree.Select) -> Plan:
        if node.resolved is not None:
            return self._ident(node.resolved)
        attribute = self._attribute(node.operand)
        self._qualify(attribute, node, node.field, None, False, node.test)
        return attribute

    def _attribute(self, node: tree.Node) -> Attribute:
        plan = self.plan(node)
        return plan if isinstance(plan, Attribute) else Attribute(self._finish(node, plan))

    def _qualify(
        self,
        attribute: Attribute,
        node: tree.Node,
        key: object,
        dynamic: Run | None,
        optional: bool,
        test: bool = False,
    ) -> None:
        attribute.qualify(Qualifier(key, dynamic, optional, test, node.start, node.end))

    def _index(self, node: tree.Call, optional: bool) -> Plan:
        attribute = self._attribute(node.args[0])
        index = self.plan(node.args[1])
        if isinstance(index, Constant):
            wrong = bad_index(index.value, native=False)
            if wrong is not None:
                raise PlanError(wrong.message)
            self._qualify(attribute, node, index.value, None, optional)
            return attribute
        run = index.resolved() if isinstance(index, Attribute) else self._finish(node.args[1], index)
        self._qualify(attribute, node, NOTHING, run, optional)
        return attribute

    def _conditional(self, node: tree.Call) -> Plan:
        branches = [self._attribute(branch) for branch in node.args[1:]]
        return Conditional(self.run(node.args[0]), *branches)

    # --- calls

    def _call(self, node: tree.Call) -> Plan:
        match node.function:
            case "_&&_":
                return _logical(*map(self.run, node.args), decisive=False)
            case "_||_":
                return _logical(*map(self.run, node.args), decisive=True)
            case "_?_:_":
                return self._conditional(node)
            case "_[_]":
                return self._index(node, False)
            case "_?._" | "_[?_]":
                return self._index(node, True)
        nodes = node.children()
        if node.function in ("or", "orValue"):
            return _optional_or(self.run(nodes[0]), self.run(nodes[1]), node.function == "orValue")
        plans = [self.plan(argument) for argument in nodes]
        folded = fold_call(node, plans, PlanError)
        if folded is not None:
            return folded
        runs = [self._finish(argument, plan) for argument, plan in zip(nodes, plans, strict=True)]
        return plan_call(node, plans, runs, PlanError)

    # --- lists and maps

    def _list(self, node: tree.ListNode) -> Plan:
        plans = [self.plan(element) for element in node.elements]
        runs = [self._finish(element, plan) for element, plan in zip(node.elements, plans, strict=True)]
        run = _list_of(runs, node.optional)
        if all(isinstance(plan, Constant) for plan in plans):
            return Constant(run(_no_frame()))
        return _charge_run(run, LIST)

    def _map(self, node: tree.MapNode) -> Plan:
        parts = node.children()
        plans = [self.plan(part) for part in parts]
        runs = [self._finish(part, plan) for part, plan in zip(parts, plans, strict=True)]
        pairs = list(zip(runs[::2], runs[1::2], [entry.optional for entry in node.entries], strict=True))
        run = _map_of(pairs)
        if all(isinstance(plan, Constant) for plan in plans):
            try:
                return Constant(run(_no_frame()))
            except InternalError as error:
                raise PlanError(str(error)) from None
        return _charge_run(run, MAP)

    # --- comprehensions

    def _slot(self) -> int:
        self.width += 1
        return self.width - 1


def _no_frame() -> list[object]:
    return [0, float("inf"), []]


def _record_run(run: Run, start: int, end: int) -> Run:
    def watched(frame: Frame) -> object:
        value = run(frame)
        seen = frame[SEEN]
        if len(seen) < MOST_SEEN:
            seen.append((start, end, value))
        return value

    return watched


def _variable(slot: int) -> Run:
    return lambda frame: frame[slot]


def _accumulator(slot: int, init: Run) -> Run:
    def accumulator(frame: Frame) -> object:
        value = frame[slot]
        if value is UNSET:
            value = init(frame)
            if isinstance(value, LIST_KINDS) and not value:
                value = MutableList()
            elif isinstance(value, dict) and not value:
                value = MutableMap()
            frame[slot] = value
        return value

    return accumulator


def _logical(left: Run, right: Run, *, decisive: bool) -> Run:
    """Return the run of && or ||. `decisive`: the value that decides on either side; otherwise the first operand that is not a bool is
    the error.
    """

    def logical(frame: Frame) -> object:
        one = left(frame)
        if one is decisive:
            return decisive
        other = right(frame)
        if other is decisive:
            return decisive
        for value in (one, other):
            if value.__class__ is not bool:
                return value if value.__class__ is Failure else NO_OVERLOAD
        return not decisive

    return logical


def _optional_or(left: Run, right: Run, unwrapped: bool) -> Run:
    def chosen(frame: Frame) -> object:
        value = left(frame)
        if value.__class__ is not Optional:
            return value
        if value.value is NOTHING:
            return right(frame)
        return value.value if unwrapped else value

    return chosen


def _charge_run(run: Run, price: int) -> Run:
    def made(frame: Frame) -> object:
        value = run(frame)
        cost = frame[COST] = frame[COST] + price
        if cost > frame[LIMIT]:
            raise Cancelled(OVER)
        return value

    return made


def _list_of(runs: list[Run], optional: frozenset[int]) -> Run:
    def made(frame: Frame) -> object:
        values = []
        for index, run in enumerate(runs):
            value = run(frame)
            if value.__class__ is Failure:
                return value
            if index in optional:
                if value.__class__ is not Optional:
                    shown = go_value(value)
                    return Failure(f"cannot initialize optional list element from non-optional value {shown}")
                value = value.value
                if value is NOTHING:
                    continue
            values.append(value)
        return values

    return made


def _map_of(pairs: Sequence[tuple[Run, Run, bool]]) -> Run:
    def made(frame: Frame) -> object:
        entries: dict[object, object] = {}
        for key_run, value_run, optional in pairs:
            key = key_run(frame)
            if key.__class__ is Failure:
                return key
            check_hashable(key)
            value = value_run(frame)
            if value.__class__ is Failure:
                return value
            if optional:
                if value.__class__ is not Optional:
                    shown = f"'{go_value(key)}' from non-optional value {go_value(value)}"
                    return Failure(f"cannot initialize optional entry {shown}")
                value = value.value
                if value is NOTHING:
                    entries.pop(key_of(key), None)
                    continue
            entries[key_of(key)] = value
        return entries

    return made
