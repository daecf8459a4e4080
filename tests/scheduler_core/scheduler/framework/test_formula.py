"""Formulas as data: they count as Go does."""

import pytest

from scheduler_core.scheduler.framework.formula import (
    Expression,
    Formula,
    Line,
    by,
    constant,
    lines_of,
    minus,
    round_expression,
    share,
    times,
    total,
    whole,
)

SEVEN, TWO, HUGE = constant(7), constant(2), constant(2**62)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (by(SEVEN, TWO), 3),
        (by(minus(constant(0), SEVEN), TWO), -3),  # towards zero
        (share(SEVEN, TWO), 3.5),
        (round_expression(share(SEVEN, TWO)), 4),
        (round_expression(share(constant(-7), TWO)), -4),  # halves away from zero
        (whole(constant(-3.5)), -3),
        (times(HUGE, TWO), -(2**63)),  # int64 wraps
        (total(HUGE, HUGE, constant(1)), 1 - 2**63),
    ],
)
def test_numbers_are_those_of_go(expression: Expression, result: float) -> None:
    assert expression.result == result


def test_a_formula_comes_to_its_last_line_which_uses_those_before() -> None:
    cpu = Line(("cpu",), by(times(SEVEN, constant(100)), constant(8)))
    node = Line(("node",), by(total(cpu, constant(50)), TWO))
    assert (Formula((cpu, node)).result, lines_of(node.expression)) == (68, (cpu,))
