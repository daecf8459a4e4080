"""Insertion of values for `$(name)` in a lesson's plan."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from playground.lessons.format import Lesson, Plan, Scalar, Vary
from playground.lessons.varying.declared import BadVariation, require_sound
from playground.lessons.varying.values import Values, collect_written_values, draw_values, holds, is_name, with_derived

MOST_DRAWS = 500
_PLACEHOLDER = re.compile(r"\$\(([a-z_][a-z0-9_]*)\)")


def as_written(lesson: Lesson) -> Lesson:
    """Return the lesson with its original values, or the same lesson if nothing varies. Raise BadVariation."""
    vary = lesson.plan.vary
    if not isinstance(vary, Vary):
        return lesson
    require_sound(vary, lesson.plan.facts)
    return _fill_lesson(lesson, lesson.plan, with_derived(vary, collect_written_values(vary)))


def variants_of(lesson: Lesson, seed: str) -> Iterator[Lesson]:
    """Yield the variants that a seed draws and that meet the lesson's requirements, always the same in the same order.

    Yield none if the lesson varies nothing; MOST_DRAWS draws at most.
    """
    pattern = lesson.pattern
    if pattern is None or not isinstance(pattern.vary, Vary):
        return
    random = Random(seed)  # noqa: S311 - draws numbers for exercises, hides nothing
    for _ in range(MOST_DRAWS):
        values = draw_values(pattern.vary, random)
        if values != collect_written_values(pattern.vary) and (whole := _fitting(pattern.vary, values)):
            drawn = _fill_lesson(lesson, pattern, whole)
            yield msgspec.structs.replace(drawn, variant=seed, origin=lesson.origin or lesson.slug)


def with_names(data: Any, values: Values) -> Any:
    """Data of a lesson that was played, with `$(name)` where a text is a name that varies; numbers and quantities stay."""
    if isinstance(data, dict):
        return {key: with_names(value, values) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [with_names(value, values) for value in data]
    if not isinstance(data, str):
        return data
    return next((f"$({name})" for name, value in values.items() if value == data and not data[:1].isdigit()), data)


def find_value_names(pattern: Plan) -> frozenset[str]:
    """Return the names of the values in a plan."""
    bare = msgspec.structs.replace(pattern, vary=msgspec.UNSET)
    return frozenset(_PLACEHOLDER.findall(msgspec.json.encode(bare).decode()))


def _fitting(vary: Vary, values: Values) -> Values | None:
    """Return the values with the derived ones if all requirements of values hold. The proof checks requirements of facts."""
    try:
        whole = with_derived(vary, values)
    except ValueError:
        return None
    known = [
        each
        for each in vary.require
        if not any(is_name(operand) and operand not in whole for operands in each.values() for operand in operands)
    ]
    return whole if all(holds(each, whole) for each in known) else None


def _fill_lesson(lesson: Lesson, pattern: Plan, values: Values) -> Lesson:
    bare = msgspec.to_builtins(msgspec.structs.replace(pattern, vary=msgspec.UNSET))
    try:
        plan = msgspec.convert(fill_data(bare, values, ""), Plan)
    except msgspec.ValidationError as error:
        raise BadVariation("vary", f"with its values put in, the lesson is none: {error}") from None
    return msgspec.structs.replace(lesson, plan=plan, drawn=dict(values), pattern=pattern)


def fill_data(data: Any, values: Values, path: str) -> Any:
    """Put values into plain data, in place of `$(name)`."""
    if isinstance(data, dict):
        return {
            _put(key, values, path): fill_data(value, values, f"{path}.{key}".lstrip("."))
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [fill_data(value, values, f"{path}[{number}]") for number, value in enumerate(data)]
    return _put(data, values, path)


def _put(text: Any, values: Values, path: str) -> Any:
    """A text with the values in place of their names; a name alone becomes its value, which may be a number."""
    if not isinstance(text, str):
        return text
    alone = _PLACEHOLDER.fullmatch(text)
    return (
        _value(alone[1], values, path)
        if alone
        else _PLACEHOLDER.sub(lambda found: str(_value(found[1], values, path)), text)
    )


def _value(name: str, values: Values, path: str) -> Scalar:
    if name not in values:
        raise BadVariation(path, f"$({name}) is no value that varies; one of {', '.join(sorted(values))} is expected")
    return values[name]
