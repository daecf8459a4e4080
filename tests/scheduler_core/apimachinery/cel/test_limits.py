"""Bad and large input: time grows with its length, and an evaluation ends."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from scheduler_core.apimachinery.cel import DYN, CompileError, Environment

ENVIRONMENT = Environment({"x": DYN})
LARGE = {
    "brackets that open": "[",
    "brackets that close": "]",
    "parentheses": "(",
    "braces": "{",
    "blanks": " ",
    "lines": "\n",
    "exclamation marks": "!",
    "minus signs": "-",
    "additions": "1 + ",
    "logical operators": "true && ",
    "ternaries": "true ? 1 : ",
    "fields": "x.",
    "calls": "x.size().",
    "indices": "x[0]",
    "quotes": '"',
    "three quotes and a letter": '"""a',
    "backslashes": "\\",
    "backquotes": "`a ",
    "comments": "// a\n",
    "unknown characters": "§",
    "digits": "9",
    "letters": "a",
    "empty lists": "[],",
    "strings": '"a" ',
    "macros": "[1].map(x, ",
}


@pytest.fixture(autouse=True)
def without_collections() -> Iterator[None]:
    """A pass of the garbage collector takes as long as everything else in the process is large."""
    gc.disable()
    yield
    gc.enable()


def seconds_of(text: str) -> float:
    begin = time.process_time()
    with pytest.raises(CompileError):
        ENVIRONMENT.compile(text)
    return time.process_time() - begin


@pytest.mark.parametrize("unit", LARGE.values(), ids=LARGE.keys())
def test_bad_input_takes_time_in_proportion_to_its_length(unit: str) -> None:
    times = [seconds_of((unit * (length // len(unit) + 1))[: length - 1] + "§") for length in (20_000, 100_000)]

    assert times[1] < 5
    assert times[1] < 12 * times[0] + 0.2


def test_a_large_list_is_compiled_in_proportion_to_its_length() -> None:
    times = []
    for count in (3_000, 12_000):
        begin = time.process_time()
        ENVIRONMENT.compile(f"[{','.join(['[]'] * count)}].size() == {count}")
        times.append(time.process_time() - begin)

    assert all(after < 12 * before + 0.5 for before, after in pairwise(times))


def test_an_expression_that_is_too_long_is_refused() -> None:
    with pytest.raises(CompileError, match="expression code point size exceeds limit"):
        ENVIRONMENT.compile("1" * 100_001)


def test_an_expression_of_as_many_levels_as_allowed_is_evaluated() -> None:
    deep = f"{'(1 + ' * 120}1{')' * 120}"

    assert ENVIRONMENT.compile(deep, None).evaluate({}).value == 121


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("[1].map(x, ", ")"),
        ("[", "]"),
        ("{1: ", "}"),
        ("(true ? ", " : '2')"),
        ("cel.bind(x, 1, ", ")"),
        ("string(", ")"),
    ],
)
def test_levels_of_any_kind_are_evaluated(begin: str, end: str) -> None:
    program = ENVIRONMENT.compile(f"{begin * 240}'1'{end * 240} == dyn(1)")

    assert program.evaluate({}, watch=True).error == ""


def test_an_expression_of_too_many_levels_is_refused() -> None:
    with pytest.raises(CompileError, match="expression recursion limit exceeded: 250"):
        ENVIRONMENT.compile(f"{'(' * 251}1{')' * 251}")


@pytest.mark.parametrize(
    "expression",
    [
        "x.all(a, x.all(b, x.all(c, x.all(d, x.all(e, e >= 0)))))",
        "x.map(a, x.map(b, x.map(c, x.map(d, d)))).size() == 0",
        "lists.range(1000000000).size() == 0",
        "'0123456789'.replace('', '0123456789').replace('', '0123456789').replace('', 'a'.replace('', 'b'))"
        ".replace('', '0123456789'.replace('', '0123456789')).replace('', '0123456789'.replace('', '0123456789'))"
        ".size() == 0",
    ],
)
def test_an_evaluation_that_costs_too_much_is_cancelled(expression: str) -> None:
    outcome = ENVIRONMENT.compile(expression).evaluate({"x": list(range(100))})

    assert outcome.error == "operation cancelled: actual cost limit exceeded"


def doubled(begin: str, double: str, times: int) -> str:
    """Nested bindings, each of twice what the one before is."""
    names = [f"v{index}" for index in range(times)]
    bound = [f"cel.bind({names[0]}, {begin}, "]
    bound += [f"cel.bind({name}, {double.replace('_', before)}, " for before, name in pairwise(names)]
    return f"{''.join(bound)}{names[-1]} == {names[-1]}{')' * times}"


@pytest.mark.parametrize(
    ("begin", "double"), [("[1]", "_ + _"), ("[1]", "[_, _]"), ("'a'", "_ + _"), ("{1: 1}", "{1: _, 2: _}")]
)
def test_what_doubles_itself_ends(begin: str, double: str) -> None:
    outcome = ENVIRONMENT.compile(doubled(begin, double, 30)).evaluate({}, watch=True)

    assert outcome.error == "operation cancelled: actual cost limit exceeded"


def test_a_type_that_doubles_itself_is_refused() -> None:
    with pytest.raises(CompileError, match="type of the map has too many parts"):
        ENVIRONMENT.compile(doubled("{1: 1}", "{_: _}", 60))


def test_a_pattern_takes_time_in_proportion_to_the_text() -> None:
    begin = time.process_time()
    outcome = ENVIRONMENT.compile("x.matches('^(a+)+$')").evaluate({"x": f"{'a' * 20_000}b"})

    assert outcome.value is False
    assert time.process_time() - begin < 1


LARGE_VALUES = {
    "map": {f"app/{index}": "x" * 40 for index in range(3_000)},
    "list": [f"node-{index}" for index in range(3_000)],
    "text": "x" * 100_000,
}


@pytest.mark.parametrize(
    "call",
    [
        "x == x",
        "x.list + x.list == []",
        "x.text + x.text == ''",
        "x.list.sort() == []",
        "x.list.indexOf('z') > 0",
        "'z' in (x.list + [x])",
        "[x.list, x.list].flatten() == []",
        "'%s'.format([x]) == ''",
        "isURL(x.text)",
        "x.list.all(k, k == '')",
    ],
)
def test_work_that_costs_little_in_kube_is_limited_too(call: str) -> None:
    program = ENVIRONMENT.compile(f"x.list.all(k, x.list.all(l, [{call}] != []))")
    outcome = program.evaluate({"x": LARGE_VALUES}, limit=100_000)
    once = ENVIRONMENT.compile(call).evaluate({"x": LARGE_VALUES}, limit=100_000)

    assert outcome.error == "operation cancelled: actual cost limit exceeded"
    assert outcome.cost < 110_000 and outcome.work < 250_000
    assert once.error == ""


def test_reading_the_size_of_a_long_text_is_no_work() -> None:
    outcome = ENVIRONMENT.compile("x.text.size() > 0").evaluate({"x": LARGE_VALUES})

    assert (outcome.value, outcome.work) == (True, 0)
