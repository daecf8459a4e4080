"""What expressions come to: value, error and cost, each as cel-go with kube's environment has them."""

import pytest

from scheduler_core.apimachinery.cel import DYN, CompileError, Environment

ENVIRONMENT = Environment({"x": DYN, "numbers": DYN})
VARIABLES = {"x": {"a": 1, "b": ["q"]}, "numbers": [1, 2, 3]}


@pytest.mark.parametrize(
    ("expression", "value", "cost"),
    [
        ("1 + 2", 3, 1),
        ("x.a == 1 && x.b[0] == 'q'", True, 7),
        ("has(x.a)", True, 1),
        ("has(x.none)", False, 1),
        ("x.?none.orValue(5)", 5, 1),
        ("numbers.exists(n, n > 2)", True, 20),
        ("numbers.filter(n, n > 1)", [2, 3], 34),
        ("cel.bind(y, x.a + 1, y + y)", 4, 6),
        ("1 in [1, 2]", True, 0),
        ("x.a > 0 ? x.b : x.c", ["q"], 4),
        ("int('7')", 7, 0),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", True, 3),
        ("semver('1.2.3').isLessThan(semver('v1.3', true))", True, 3),
        ("'abc'.matches('^a.c$')", True, 2),
    ],
)
def test_a_value_and_its_cost(expression: str, value: object, cost: int) -> None:
    outcome = ENVIRONMENT.compile(expression, None).evaluate(VARIABLES)

    assert (outcome.value, outcome.error, outcome.cost) == (value, "", cost)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("x.none", "no such key: none"),
        ("x.b[5]", "index out of bounds: 5"),
        ("x.a + 's'", "no such overload"),
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("x.none || x.a == 2", "no such key: none"),
    ],
)
def test_an_error_in_the_words_of_cel_go(expression: str, error: str) -> None:
    assert ENVIRONMENT.compile(expression, None).evaluate(VARIABLES).error == error


def test_logical_operators_absorb_errors() -> None:
    assert ENVIRONMENT.compile("x.none || x.a == 1").evaluate(VARIABLES).value is True
    assert ENVIRONMENT.compile("x.none && x.a == 2").evaluate(VARIABLES).value is False


def test_the_limit_ends_an_evaluation() -> None:
    outcome = ENVIRONMENT.compile("numbers.all(n, n > 0)").evaluate(VARIABLES, limit=10)

    assert outcome.error == "operation cancelled: actual cost limit exceeded"


def test_an_error_has_its_place() -> None:
    with pytest.raises(CompileError) as caught:
        ENVIRONMENT.compile("1 ==\n  y")

    assert caught.value.message == "undeclared reference to 'y' (in container '')"
    assert (caught.value.line, caught.value.column, caught.value.offset) == (2, 2, 7)
    assert str(caught.value).endswith(" |   y\n | ..^")


def test_another_type_than_the_expected_one_is_refused() -> None:
    with pytest.raises(CompileError, match="must evaluate to bool or the unknown type, not int"):
        ENVIRONMENT.compile("1 + 1")


def test_a_watched_evaluation_tells_the_values_of_its_parts() -> None:
    text = "x.a == 1"

    values = ENVIRONMENT.compile(text).evaluate(VARIABLES, watch=True).values

    assert [(text[start:end], value) for start, end, value in values] == [("x.a", 1), ("1", 1), ("x.a == 1", True)]
