"""Comprehensions at run time: what all, exists, map and the others become.

kube: vendor/github.com/google/cel-go/interpreter/interpretable.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.apimachinery.cel.running.frame import UNSET, Frame, Run
from scheduler_core.apimachinery.cel.texts import go_type
from scheduler_core.apimachinery.cel.values import LIST_KINDS, Failure, MutableList, MutableMap, value_of_key


def fold(ranged: Run, names: tuple[int, int | None], accumulator: int, condition: Run, step: Run, result: Run) -> Run:
    """`names`: the slots of the loop's variables; the second is None with one variable."""
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
