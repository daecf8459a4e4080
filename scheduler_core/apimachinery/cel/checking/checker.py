"""The type checker: resolves identifiers and overloads of a parsed tree and reports type errors.

kube: vendor/github.com/google/cel-go/checker/checker.go @ v1.34.1 (cel-go v0.26.0)
"""

from collections.abc import Mapping as ReadMapping

from scheduler_core.apimachinery.cel import types
from scheduler_core.apimachinery.cel.checking import unify
from scheduler_core.apimachinery.cel.declarations import FUNCTIONS, Function, Overload
from scheduler_core.apimachinery.cel.errors import Issues
from scheduler_core.apimachinery.cel.syntax.tree import (
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
from scheduler_core.apimachinery.cel.types import BOOL, DYN, ERROR, INT, Kind, Type, list_of, map_of, optional_of, spell
from scheduler_core.apimachinery.cel.values import type_of_value

TYPE_NAMES: dict[str, Type] = {
    a_type.name: types.type_of(a_type)
    for a_type in (
        types.BOOL,
        types.BYTES,
        types.DOUBLE,
        types.DURATION,
        types.INT,
        types.NULL,
        types.STRING,
        types.TIMESTAMP,
        types.UINT,
        list_of(types.param("A")),
        map_of(types.param("A"), types.param("B")),
        types.IP,
        types.CIDR,
        types.OPTIONAL,
    )
}
TYPE_NAMES["type"] = types.type_of(types.TYPE)
_MOST_PARTS = 2000  # of a type. DEVIATION: kube takes any number, until its time is over
Structs = ReadMapping[str, ReadMapping[str, Type]]
"""The fields of declared types, by the types' names."""


def check(
    tree: Node,
    variables: ReadMapping[str, Type],
    structs: Structs,
    issues: Issues,
    without: frozenset[str] = frozenset(),
) -> None:
    """Set the types and overloads of every node, in place. `without`: names of functions that are unavailable."""
    checker = _Checker(variables, structs, issues, without)
    checker.check(tree)
    checker.settle()


class _Checker:
    def __init__(
        self, variables: ReadMapping[str, Type], structs: Structs, issues: Issues, without: frozenset[str]
    ) -> None:
        self._variables, self._structs, self._issues = variables, structs, issues
        self._without = without
        self._scopes: list[dict[str, Type]] = []
        self._mapping = unify.Mapping()
        self._free = 0
        self._checked: list[Node] = []

    def settle(self) -> None:
        """The parameters that were found out later go into all types."""
        for node in self._checked:
            node.type = unify.substitute_params(self._mapping, node.type, free_is_dyn=True)

    def check(self, node: Node) -> Type:
        node.type = self._type_of(node)
        self._checked.append(node)
        return node.type

    def _type_of(self, node: Node) -> Type:
        match node:
            case Literal():
                return type_of_value(node.value)
            case Ident():
                found = self._look_up(node.name)
                if found is None:
                    return self._report_undeclared(node.name, node.at)
                node.name, a_type = found
                node.is_type = a_type.kind is Kind.TYPE and node.name not in self._variables
                return a_type
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Comprehension():
                self.check(node.range)
                accumulator = self.check(node.init)
                of = unify.substitute_params(self._mapping, node.range.type)
                first, second = self._loop_types(node, of)
                self._scopes.append({node.accumulator: accumulator})
                self._scopes.append({node.first: first, **({node.second: second} if node.second else {})})
                self._wants(node.condition, BOOL, self.check(node.condition))
                self._wants(node.step, accumulator, self.check(node.step))
                self._scopes.pop()
                result = self.check(node.result)
                self._scopes.pop()
                return unify.substitute_params(self._mapping, result)
            case Message():
                return self._message(node)
        raise TypeError(node)

    # --- names

    def _look_up(self, name: str) -> tuple[str, Type] | None:
        """A variable or a type; a dot in front looks past the variables of macros."""
        if not name.startswith("."):
            for scope in reversed(self._scopes):
                if name in scope:
                    return name, scope[name]
        name = name.removeprefix(".")
        for known in (self._variables, TYPE_NAMES, self._structs):
            if name in known:
                found = known[name]
                return name, found if isinstance(found, Type) else types.type_of(types.struct(name))
        return None

    def _report_undeclared(self, name: str, at: int) -> Type:
        self._issues.add(f"undeclared reference to '{name}' (in container '')", at)
        return ERROR

    def _select(self, node: Select) -> Type:
        name = None if node.test else find_qualified_name(node)
        found = self._look_up(name) if name is not None else None
        if found is not None:
            node.resolved = Ident(found[0], node.start, node.end, node.at)
            node.resolved.type = found[1]
            node.resolved.is_type = found[1].kind is Kind.TYPE and found[0] not in self._variables
            return found[1]
        result = self._field(node, node.operand, node.field, optional=False)
        return BOOL if node.test else unify.substitute_params(self._mapping, result)

    def _field(self, node: Node, operand: Node, field: str, optional: bool) -> Type:
        of = unify.substitute_params(self._mapping, self.check(operand))
        wrapped = _is_optional(of)
        if wrapped:
            of = of.params[0]
        result = self._field_of(node, of, field)
        return optional_of(result) if wrapped or optional else result

    def _field_of(self, node: Node, of: Type, field: str) -> Type:
        if of.kind is Kind.MAP:
            return of.params[1]
        if of.kind is Kind.STRUCT:
            fields = self._structs.get(of.name)
            if fields is None:
                self._issues.add(f"unexpected failed resolution of '{of.name}'", node.at)
                return ERROR
            if field not in fields:
                self._issues.add(f"undefined field '{field}'", node.at)
                return ERROR
            return fields[field]
        if of.kind is Kind.PARAM:
            unify.assignable(self._mapping, DYN, of)
        elif not unify.is_dyn_or_error(of):
            self._issues.add(f"type '{spell(of)}' does not support field selection", node.at)
        return DYN

    # --- calls

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, field = node.args
            assert isinstance(field, Literal)
            result = self._field(node, operand, str(field.value), optional=True)
            node.overloads = ("select_optional_field",)
            return unify.substitute_params(self._mapping, result)
        for arg in node.args:
            self.check(arg)
        if node.target is not None:
            name = find_qualified_name(node.target)
            function = self._function(f"{name}.{node.function}") if name is not None else None
            if function is not None:
                node.function, node.target = function.name, None
                return self._overload(node, function)
            self.check(node.target)
        function = self._function(node.function)
        if function is None:
            return self._report_undeclared(node.function, node.at)
        node.function = function.name
        return self._overload(node, function)

    def _function(self, name: str) -> Function | None:
        name = name.removeprefix(".")
        return None if name in self._without else FUNCTIONS.get(name)

    def _overload(self, node: Call, function: Function) -> Type:
        member = node.target is not None
        nodes = node.children()
        arguments = [argument.type for argument in nodes]
        if function.name in ("_&&_", "_||_"):
            return self._logical(node, function)
        found: list[str] = []
        result: Type | None = None
        for overload in function.overloads:
            if overload.member is not member or len(overload.arguments) != len(arguments):
                continue
            wanted, gives = self._instance(overload)
            if not unify.assignable_all(self._mapping, arguments, wanted):
                continue
            found.append(overload.id)
            gives = unify.substitute_params(self._mapping, gives)
            if result is None:
                result = gives
            elif not unify.is_dyn(result) and gives != result:
                result = DYN
        node.overloads = tuple(found)
        if result is None:
            shown = [unify.substitute_params(self._mapping, argument, free_is_dyn=True) for argument in arguments]
            signature = types.spell_call(shown, member)
            self._issues.add(f"found no matching overload for '{function.name}' applied to '{signature}'", node.at)
            return ERROR
        return result

    def _instance(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """The overload's types with parameters of its own."""
        if not overload.generic:
            return overload.arguments, overload.result
        fresh = unify.Mapping()
        for a_type in (*overload.arguments, overload.result):
            for name in _parameters(a_type):
                if name not in fresh:
                    fresh[name] = self._new_parameter()
        arguments = tuple(unify.substitute_params(fresh, a_type) for a_type in overload.arguments)
        return arguments, unify.substitute_params(fresh, overload.result)

    def _logical(self, node: Call, function: Function) -> Type:
        node.overloads = (function.overloads[0].id,)
        result = BOOL
        for arg in node.args:
            if not unify.assignable(self._mapping, arg.type, BOOL):
                self._mismatch(arg, BOOL, arg.type)
                result = ERROR
        return result

    # --- lists, maps and messages

    def _list(self, node: ListNode) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            of = self.check(element)
            if index in node.optional:
                of = self._unwrap(element, of)
            joined = self._join(joined, of)
        return list_of(joined if joined is not None else self._new_parameter())

    def _map(self, node: MapNode) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self._join(keys, self.check(entry.key))
            of = self.check(entry.value)
            if entry.optional:
                of = self._unwrap(entry.value, of)
            values = self._join(values, of)
        if keys is None or values is None:
            return map_of(self._new_parameter(), self._new_parameter())
        found = map_of(keys, values)
        # A type with too many parts cannot be compared in time: keys and values may be of the same large type.
        parts, count = [found], 0
        while parts and count < _MOST_PARTS:
            parts.extend(parts.pop().params)
            count += 1
        if parts:
            self._issues.add("type of the map has too many parts", node.at)
            return ERROR
        return found

    def _unwrap(self, node: Node, of: Type) -> Type:
        if _is_optional(of):
            return of.params[0]
        if not unify.is_dyn(of):
            self._mismatch(node, optional_of(of), of)
        return of

    def _join(self, before: Type | None, now: Type) -> Type:
        """Return the common type of two elements. Whether literals have one type is checked later."""
        if before is None:
            return now
        return unify.more_general(before, now) if unify.assignable(self._mapping, before, now) else DYN

    def _message(self, node: Message) -> Type:
        found = self._look_up(node.name)
        if found is None:
            return self._report_undeclared(node.name, node.at)
        name, a_type = found
        if a_type.kind is not Kind.TYPE:
            self._issues.add(f"'{spell(a_type)}' is not a type", node.at)
            return ERROR
        self._issues.add(f"'{name}' is not a message type", node.at)
        return ERROR

    # --- comprehensions

    def _loop_types(self, node: Comprehension, of: Type) -> tuple[Type, Type]:
        if of.kind is Kind.LIST:
            return (INT, of.params[0]) if node.second else (of.params[0], ERROR)
        if of.kind is Kind.MAP:
            return of.params[0], of.params[1]
        if of.kind in (Kind.DYN, Kind.ANY, Kind.ERROR, Kind.PARAM):
            unify.assignable(self._mapping, DYN, of)
            return DYN, DYN
        self._issues.add(
            f"expression of type '{spell(of)}' cannot be range of a comprehension (must be list, map, or dynamic)",
            node.range.at,
        )
        return ERROR, ERROR

    def _wants(self, node: Node, wanted: Type, found: Type) -> None:
        if not unify.assignable(self._mapping, wanted, found):
            self._mismatch(node, wanted, found)

    def _mismatch(self, node: Node, wanted: Type, found: Type) -> None:
        self._issues.add(f"expected type '{spell(wanted)}' but found '{spell(found)}'", node.at)

    def _new_parameter(self) -> Type:
        self._free += 1
        return types.param(f"_var{self._free - 1}")


def find_qualified_name(node: Node) -> str | None:
    """Return the name `a.b.c` of a chain of identifiers and selections, or None."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test:
        operand = find_qualified_name(node.operand)
        return None if operand is None else f"{operand}.{node.field}"
    return None


def _is_optional(a_type: Type) -> bool:
    return a_type.kind is Kind.OPAQUE and a_type.name == "optional_type" and bool(a_type.params)


def _parameters(a_type: Type) -> list[str]:
    if a_type.kind is Kind.PARAM:
        return [a_type.name]
    return [name for part in a_type.params for name in _parameters(part)]
