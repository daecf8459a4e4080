"""The estimate of a whole tree: costs add up, loops multiply, sizes are followed as far as they can be told.

kube: vendor/github.com/google/cel-go/checker/cost.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.apimachinery.cel.estimate import ranges
from scheduler_core.apimachinery.cel.estimate.functions import EXTENSIONS, STANDARD, Argument, Call, kube_call
from scheduler_core.apimachinery.cel.running.cost import LIST, MAP
from scheduler_core.apimachinery.cel.syntax import tree
from scheduler_core.apimachinery.cel.types import Kind, Type

_FORMER_ACCUMULATOR = "__result__"
_SCALARS = (Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT)
_NO_ENTRY = ranges.Range(ranges.MOST, 0)
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entries:
    """The sizes of the keys and values of a list or map."""

    of_list: bool
    key: ranges.Range
    value: ranges.Range

    def union(self, other: _Entries) -> _Entries:
        return _Entries(self.of_list, self.key.union(other.key), self.value.union(other.value))


@dataclass(frozen=True, slots=True)
class _Variable:
    path: Path
    size: ranges.Range | None
    entries: _Entries | None


def estimate(node: tree.Node, roots: Mapping[str, ranges.DeclaredSize]) -> ranges.Range:
    """Return the minimum and maximum cost of a checked tree. `roots`: the declared sizes of variables."""
    return _Estimate(roots).cost(node)


class _Estimate:
    def __init__(self, roots: Mapping[str, ranges.DeclaredSize]) -> None:
        self._roots = roots
        self._variables: dict[str, list[_Variable]] = {}
        self._paths: dict[tree.Node, Path] = {}
        self._sizes: dict[tree.Node, ranges.Range] = {}
        self._entries: dict[tree.Node, _Entries] = {}

    def cost(self, node: tree.Node) -> ranges.Range:
        match node:
            case tree.Ident():
                return self._ident(node)
            case tree.Select():
                return self._select(node)
            case tree.Call():
                return self._call(node)
            case tree.ListNode():
                cost, size = self._sum(node.elements)
                self._entries[node] = _Entries(True, ranges.ONE, size)
                return cost.plus(ranges.build_exact_range(LIST))
            case tree.MapNode():
                return self._map(node)
            case tree.Comprehension():
                return self._bind(node) if _is_bind(node) else self._loop(node)
        return ranges.NONE

    # --- names

    def _ident(self, node: tree.Ident) -> ranges.Range:
        variable = self._variable(node.name)
        self._paths[node] = (node.name,) if variable is None else variable.path
        return ranges.ONE

    def _select(self, node: tree.Select) -> ranges.Range:
        if node.resolved is not None:
            return self._ident(node.resolved)
        cost = self.cost(node.operand)
        if node.test:
            return cost
        if node.operand.type.kind in (Kind.MAP, Kind.STRUCT, Kind.PARAM):
            cost = cost.plus(ranges.ONE)
        self._paths[node] = (*self._path(node.operand), node.field)
        return cost

    def _variable(self, name: str) -> _Variable | None:
        found = self._variables.get(name)
        return found[-1] if found else None

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _path(self, node: tree.Node) -> Path:
        variable = self._variable(node.name) if isinstance(node, tree.Ident) else None
        return self._paths.get(node, ()) if variable is None else variable.path

    # --- sizes

    def _size(self, node: tree.Node) -> ranges.Range | None:
        known = self._sizes.get(node) or _own_size(node)
        if known is not None:
            return known
        declared = ranges.find_declared_size(self._roots, self._path(node))
        if declared is not None:
            self._sizes[node] = declared
            return declared
        if _is_scalar(node.type):
            return ranges.ONE
        variable = self._variable(node.name) if isinstance(node, tree.Ident) else None
        return None if variable is None else variable.size

    def _entry_sizes(self, node: tree.Node) -> _Entries | None:
        known = self._entries.get(node)
        if known is None and isinstance(node, tree.Ident):
            variable = self._variable(node.name)
            return None if variable is None else variable.entries
        return known

    def _keep(self, node: tree.Node, size: ranges.Range | None, entries: _Entries | None) -> None:
        if size is not None:
            self._sizes[node] = size
        if entries is not None:
            self._entries[node] = entries

    def _argument(self, node: tree.Node) -> Argument:
        path = self._path(node)
        if path and path[0] in (tree.ACCUMULATOR, _FORMER_ACCUMULATOR):
            path = ()
        return Argument(node, node.type, path, self._size(node), self._roots)

    # --- calls

    def _call(self, node: tree.Call) -> ranges.Range:
        if node.function == "dyn":
            cost = ranges.ONE.plus(self.cost(node.args[0]))
            self._keep(node, self._size(node.args[0]), self._entry_sizes(node.args[0]))
            return cost
        costs = [self.cost(arg) for arg in node.args]
        arguments = [self._argument(arg) for arg in node.args]
        before = ranges.NONE
        if node.target is not None:
            before = self.cost(node.target)
            arguments.insert(0, self._argument(node.target))
        total, size = _NO_ENTRY, None
        for overload in node.overloads:
            call = self._overload(node, overload, arguments, costs)
            total = total.union(call.cost)
            if call.size is not None:
                size = call.size if size is None else size.union(call.size)
            size = self._index(node, overload, size)
            if size is None:
                size = self._size(node)
        self._keep(node, size, None)
        return before.plus(total)

    def _index(self, node: tree.Call, overload: str, size: ranges.Range | None) -> ranges.Range | None:
        if overload not in ("index_list", "index_map"):
            return size
        operand = node.args[0]
        entries = self._entry_sizes(operand)
        self._paths[node] = (*self._path(operand), "@items" if overload == "index_list" else "@values")
        return None if entries is None else entries.value

    def _overload(self, node: tree.Call, overload: str, args: list[Argument], costs: list[ranges.Range]) -> Call:
        """One overload's call with the cost of the arguments."""
        before = ranges.NONE
        for cost in costs:
            before = before.plus(cost)
        extension = EXTENSIONS.get(overload)
        found = kube_call(node.function, overload, args) if extension is None else extension(args)
        if found is not None:
            return Call(found.cost.plus(before), found.size)
        if overload in ("logical_or", "logical_and"):
            return Call(ranges.Range(costs[0].min, costs[0].plus(costs[1]).max))
        if overload == "conditional":
            self._join_entries(node, node.args[1], node.args[2])
            return Call(costs[0].plus(costs[1].union(costs[2])), args[1].known.union(args[2].known))
        if overload in ("add_string", "add_bytes", "add_list"):
            self._join_entries(node, node.args[0], node.args[1])
        standard = STANDARD.get(overload)
        found = None if standard is None else standard(args)
        return Call(ranges.ONE.plus(before)) if found is None else Call(found.cost.plus(before), found.size)

    def _join_entries(self, node: tree.Node, one: tree.Node, other: tree.Node) -> None:
        first, second = self._entry_sizes(one), self._entry_sizes(other)
        if first is not None and second is not None:
            self._entries[node] = first.union(second)

    # --- lists and maps

    def _sum(self, nodes: list[tree.Node]) -> tuple[ranges.Range, ranges.Range]:
        """The costs together, and the range of the sizes."""
        cost, size = ranges.NONE, _NO_ENTRY if nodes else ranges.NONE
        for node in nodes:
            cost = cost.plus(self.cost(node))
            size = size.union(self._size(node) or ranges.UNKNOWN)
        return cost, size

    def _map(self, node: tree.MapNode) -> ranges.Range:
        keys, key_size = self._sum([entry.key for entry in node.entries])
        values, value_size = self._sum([entry.value for entry in node.entries])
        self._entries[node] = _Entries(False, key_size, value_size)
        return keys.plus(values).plus(ranges.build_exact_range(MAP))

    # --- comprehensions

    def _loop(self, node: tree.Comprehension) -> ranges.Range:
        cost = self.cost(node.range).plus(self.cost(node.init))
        self._push_bound(node.accumulator, node.init)
        names = [node.first, *([node.second] if node.second else [])]
        for name in names:
            entries = self._entry_sizes(node.range)
            of_list = entries.of_list if entries is not None else node.range.type.kind is Kind.LIST
            of_key = name == node.first and (bool(node.second) or not of_list)
            if of_key:
                word = "@indices" if of_list else "@keys"
            else:
                word = "@items" if of_list else "@values"
            size = None if entries is None else entries.key if of_key else entries.value
            self._push(name, _Variable((*self._path(node.range), word), size, None))
        condition, step = self.cost(node.condition), self.cost(node.step)
        for name in names:
            self._variables[name].pop()
        cost = cost.plus(self.cost(node.result))
        self._variables[node.accumulator].pop()
        count = self._size(node.range) or ranges.UNKNOWN
        cost = cost.plus(count.times(step.plus(condition)))
        if isinstance(node.init, tree.Literal):
            self._keep(node, self._size(node.init), None)
        elif isinstance(node.init, tree.ListNode | tree.MapNode):
            self._keep(node, count, self._entry_sizes(node.step))
        return cost

    def _push_bound(self, name: str, value: tree.Node) -> None:
        self._push(name, _Variable(self._path(value), self._size(value), self._entry_sizes(value)))

    def _bind(self, node: tree.Comprehension) -> ranges.Range:
        cost = self.cost(node.range).plus(self.cost(node.init))
        self._push_bound(node.accumulator, node.init)
        cost = cost.plus(self.cost(node.result))
        self._variables[node.accumulator].pop()
        self._keep(node, self._size(node.result), self._entry_sizes(node.result))
        return cost


def _is_bind(node: tree.Comprehension) -> bool:
    empty = isinstance(node.range, tree.ListNode) and not node.range.elements
    never = isinstance(node.condition, tree.Literal) and node.condition.value is False
    return empty and never and node.accumulator != _FORMER_ACCUMULATOR


def _own_size(node: tree.Node) -> ranges.Range | None:
    """Return the size of a literal, list, or map that is written out; None for other nodes."""
    if isinstance(node, tree.ListNode):
        return ranges.build_exact_range(len(node.elements))
    if isinstance(node, tree.MapNode):
        return ranges.build_exact_range(len(node.entries))
    if isinstance(node, tree.Literal):
        return ranges.build_exact_range(len(node.value) if isinstance(node.value, str | bytes) else 1)
    return None


def _is_scalar(a_type: Type) -> bool:
    if a_type.kind is Kind.OPAQUE and a_type.name == "optional_type" and a_type.params:
        return _is_scalar(a_type.params[0])
    return a_type.kind in _SCALARS
