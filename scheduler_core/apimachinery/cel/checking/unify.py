"""Assignability of types, and the values of type parameters.

kube: vendor/github.com/google/cel-go/checker/{types,mapping}.go @ v1.34.1 (cel-go v0.26.0)
"""

from collections.abc import Sequence

from scheduler_core.apimachinery.cel.types import DYN, Kind, Type


class Mapping(dict[str, Type]):
    """The types bound to type parameters, by name. Bindings of failed attempts are undone."""

    __slots__ = ("_changes",)

    def __init__(self) -> None:
        super().__init__()
        self._changes: list[tuple[str, Type | None]] = []

    def bind(self, parameter: str, a_type: Type) -> None:
        self._changes.append((parameter, self.get(parameter)))
        self[parameter] = a_type

    def settle(self, holds: bool) -> bool:
        """Keep the bindings since the last call if `holds`, else undo them. Return `holds`."""
        if not holds:
            for parameter, before in reversed(self._changes):
                if before is None:
                    del self[parameter]
                else:
                    self[parameter] = before
        self._changes.clear()
        return holds


_BUILT = (Kind.OPAQUE, Kind.LIST, Kind.MAP)
_NULLABLE = (Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP, Kind.NULL)


def is_dyn(a_type: Type) -> bool:
    return a_type.kind in (Kind.DYN, Kind.ANY)


def is_dyn_or_error(a_type: Type) -> bool:
    return a_type.kind in (Kind.DYN, Kind.ANY, Kind.ERROR)


def assignable(mapping: Mapping, first: Type, second: Type) -> bool:
    """Return whether `first` is assignable to `second`. The mapping grows only if so."""
    return assignable_all(mapping, (first,), (second,))


def assignable_all(mapping: Mapping, first: Sequence[Type], second: Sequence[Type]) -> bool:
    return mapping.settle(_all(mapping, first, second))


def _all(mapping: Mapping, first: Sequence[Type], second: Sequence[Type]) -> bool:
    return len(first) == len(second) and all(
        _one(mapping, one, other) for one, other in zip(first, second, strict=True)
    )


def _one(mapping: Mapping, first: Type, second: Type) -> bool:
    if second.kind is Kind.PARAM:
        valid, known = _stands_for(mapping, first, second)
        if valid or known:
            return valid
    if first.kind is Kind.PARAM:
        return _stands_for(mapping, second, first)[0]
    if is_dyn_or_error(first) or is_dyn_or_error(second):
        return True
    if Kind.NULL in (first.kind, second.kind):
        return (second if first.kind is Kind.NULL else first).kind in _NULLABLE
    if first.kind is Kind.TYPE:
        return second.kind is Kind.TYPE
    if first.kind in _BUILT:
        same = first.kind is second.kind and first.name == second.name
        return same and _all(mapping, first.params, second.params)
    return first == second


def _stands_for(mapping: Mapping, a_type: Type, parameter: Type) -> tuple[bool, bool]:
    """Return whether the parameter can be bound to the type, and whether it was already bound."""
    if a_type == parameter:
        return True, True
    known = mapping.get(parameter.name)
    if known is not None:
        if a_type == known:
            return True, True
        if not _one(mapping, a_type, known):
            return False, True
        general = more_general(a_type, known)
        if _is_free(mapping, parameter, general):
            mapping.bind(parameter.name, general)
        return True, True
    if _is_free(mapping, parameter, a_type):
        mapping.bind(parameter.name, a_type)
        return True, False
    return False, False


def more_general(first: Type, second: Type) -> Type:
    """Return the more general of two types that agree."""
    return first if _less_specific(first, second) else second


def _less_specific(first: Type, second: Type) -> bool:
    if is_dyn(first) or first.kind is Kind.PARAM:
        return True
    if is_dyn(second) or second.kind is Kind.PARAM or first.kind is not second.kind:
        return False
    if first.kind in _BUILT:
        return (
            first.name == second.name
            and len(first.params) == len(second.params)
            and all(map(_less_specific, first.params, second.params))
        )
    return first.kind is Kind.TYPE or first == second


def _is_free(mapping: Mapping, parameter: Type, within: Type) -> bool:
    """Return whether the parameter does not occur in the type to which it will be bound."""
    if parameter == within:
        return False
    if within.kind is Kind.PARAM:
        known = mapping.get(within.name)
        return known is None or _is_free(mapping, parameter, known)
    return all(_is_free(mapping, parameter, part) for part in within.params)


def substitute_params(mapping: Mapping, a_type: Type, free_is_dyn: bool = False) -> Type:
    """Return the type with its parameters replaced by their bindings."""
    if a_type.kind is Kind.PARAM:
        known = mapping.get(a_type.name)
        if known is not None:
            return substitute_params(mapping, known, free_is_dyn)
        return DYN if free_is_dyn else a_type
    if not a_type.params:
        return a_type
    params = tuple(substitute_params(mapping, part, free_is_dyn) for part in a_type.params)
    if all(new is old for new, old in zip(params, a_type.params, strict=True)):
        return a_type
    return Type(a_type.kind, a_type.name, params)
