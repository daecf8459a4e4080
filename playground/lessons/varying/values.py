"""The varying values of a lesson: numbers, quantities, and names, compared and computed exactly.

Nothing in a lesson is executed: a value is drawn from a range or a list, permuted with others, or is the sum, difference, product, or
whole quotient of values. Whole numbers stay whole numbers; a quantity keeps the unit of the lesson.
"""

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise
from random import Random
from typing import Any

from playground.lessons.facts import Value
from playground.lessons.format import Draw, Operation, Relation, Scalar, Vary
from scheduler_core.world.readonly import BadQuantity, parse_quantity

LARGEST = 10**15
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_UNIT = re.compile(r"(?:[KMGTPE]i|[munkMGTPE])?\Z")
_SMALLER = {"": "m", "k": "", "M": "k", "G": "M", "T": "G", "Ki": "", "Mi": "Ki", "Gi": "Mi", "Ti": "Gi"}
Values = Mapping[str, Scalar]


def is_name(operand: object) -> bool:
    """Return True if an operand names a value; quantities begin with a digit."""
    return isinstance(operand, str) and _NAME.fullmatch(operand) is not None


def number_of(value: Scalar) -> Fraction:
    """Return a whole number or quantity as a Fraction. Raise BadQuantity for a name."""
    return parse_quantity(value)


def in_unit_of(pattern: Scalar, number: Fraction) -> Scalar:
    """Return a number in the lesson's form: whole if `pattern` is whole, else with its unit, or a smaller unit to avoid a fraction."""
    if abs(number) > LARGEST:
        raise ValueError(f"{float(number):g} is too large; {LARGEST:,} is the most")
    if isinstance(pattern, int):
        if number.denominator != 1:
            raise ValueError(f"{float(number):g} is no whole number")
        return int(number)
    found = _UNIT.search(pattern)
    unit: str | None = found[0] if found else ""
    while unit is not None:
        count = number / parse_quantity(f"1{unit}")
        if count.denominator == 1:
            return f"{count}{unit}"
        unit = _SMALLER.get(unit)
    raise ValueError(f"{float(number):g} can't be written in the unit of {pattern}")


def collect_written_values(vary: Vary) -> dict[str, Scalar]:
    """Return the original values without derived ones."""
    values = {name: draw.written for name, draw in vary.draws.items()}
    return values | {name: value for shuffle in vary.shuffles for name, value in shuffle.items()}


def draw_values(vary: Vary, random: Random) -> dict[str, Scalar]:
    """Draw new values without derived ones."""
    values = {name: _draw_value(draw, random) for name, draw in vary.draws.items()}
    for shuffle in vary.shuffles:
        moved = random.sample(list(shuffle.values()), len(shuffle))
        values |= dict(zip(shuffle, moved, strict=True))
    return values


def _draw_value(draw: Draw, random: Random) -> Scalar:
    if draw.least is None:
        return random.choice(draw.among)
    return in_unit_of(draw.written, number_of(draw.least) + number_of(draw.step) * random.randint(0, places(draw) - 1))


def places(draw: Draw) -> int:
    """Return the number of values in a range."""
    assert draw.least is not None and draw.most is not None
    return math.floor((number_of(draw.most) - number_of(draw.least)) / number_of(draw.step)) + 1


def with_derived(vary: Vary, values: Values) -> dict[str, Scalar]:
    """Return the values with the derived ones. Raise ValueError."""
    whole = dict(values)
    for name, derived in vary.derived.items():
        for operation, operands in derived.items():
            try:
                whole[name] = _compute_value(
                    operation, [whole[each] if isinstance(each, str) and each in whole else each for each in operands]
                )
            except (ValueError, ArithmeticError) as error:
                raise ValueError(f"{name}: {operation} of {list(operands)}: {error}") from None
    return whole


def _compute_value(operation: Operation, operands: Sequence[Scalar]) -> Scalar:
    numbers = [number_of(each) for each in operands]
    pattern = next((each for each in operands if isinstance(each, str)), operands[0])
    match operation:
        case "sum":
            return in_unit_of(pattern, sum(numbers, Fraction()))
        case "difference":
            return in_unit_of(pattern, reduce(lambda left, right: left - right, numbers))
        case "product":
            return in_unit_of(pattern, math.prod(numbers, start=Fraction(1)))
        case "quotient":
            return in_unit_of(0, Fraction(numbers[0] // numbers[1]))


def holds(require: Mapping[Relation, Sequence[Scalar]], values: Mapping[str, Value]) -> bool:
    """Return whether each relation holds: `rising` and `at_most` between neighbors, `equal` and `different` between any two."""
    return all(
        _between(relation, [_comparable(values.get(str(each), each)) for each in operands])
        for relation, operands in require.items()
    )


def _between(relation: Relation, values: Sequence[Any]) -> bool:
    match relation:
        case "equal":
            return all(left == right for left, right in pairwise(values))
        case "different":
            return all(left != right for left, right in combinations(values, 2))
        case _ if not all(isinstance(each, Fraction) for each in values):
            return False
        case "rising":
            return all(left < right for left, right in pairwise(values))
        case "at_most":
            return all(left <= right for left, right in pairwise(values))


def _comparable(value: Value) -> object:
    """Return numbers and quantities as Fractions, and other values unchanged."""
    if isinstance(value, bool | tuple):
        return value
    try:
        return Fraction(value) if isinstance(value, float) else number_of(value)
    except BadQuantity:
        return value
