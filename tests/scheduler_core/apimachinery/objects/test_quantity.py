from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.quantity import (
    MAX_INT64,
    BadQuantity,
    format_quantity,
    milli_of_nanos,
    nanos,
    parse_quantity,
    value,
)

SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0", 0),
        ("500m", Fraction(1, 2)),
        ("2", 2),
        ("1.5Gi", 3 * 2**29),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("12e-1", Fraction(6, 5)),
        ("+5k", 5000),
        ("-3", -3),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("100u", Fraction(1, 10000)),
        ("7n", Fraction(7, 10**9)),
        (4, 4),
        (0.25, Fraction(1, 4)),
    ],
)
def test_a_quantity_means_its_exact_value(text, exact):
    assert parse_quantity(text) == exact


@pytest.mark.parametrize(
    "text", ["", "10x", "1 Gi", "Gi1", "1kk", "1.2.3", "--1", "1e", "0x10", "1ki", True, "9" * 200, float("nan")]
)
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(BadQuantity):
        parse_quantity(text)


def test_anything_finer_than_a_nano_is_rounded_up_to_one():
    assert parse_quantity("0.1n") == Fraction(1, 10**9)
    assert parse_quantity("-0.1n") == Fraction(-1, 10**9)


@pytest.mark.parametrize(
    ("text", "millis", "units"), [("1m", 1, 1), ("0.5m", 1, 1), ("1500m", 1500, 2), ("-1500m", -1500, -2), ("0", 0, 0)]
)
def test_values_round_up_away_from_zero(text, millis, units):
    assert (milli_of_nanos(nanos(text)), value(text)) == (millis, units)


@pytest.mark.parametrize("text", ["10E", "100Ei", "1e999999999", "9e30"])
def test_a_quantity_beyond_int64_saturates(text):
    assert value(text) == MAX_INT64


def test_a_huge_negative_exponent_is_at_least_one_nano():
    assert parse_quantity("1e-999999999") == Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("exact", "binary", "text"),
    [
        (Fraction(3, 2), False, "1500m"),
        (2, False, "2"),
        (5000, False, "5k"),
        (3 * 2**29, True, "1536Mi"),
        (512, True, "512"),
        (Fraction(3, 2), True, "1500m"),
        (0, True, "0"),
        (-(2**31), True, "-2Gi"),
    ],
)
def test_a_quantity_is_printed_as_kube_prints_it(exact, binary, text):
    assert format_quantity(exact, binary=binary) == text


@given(st.integers(-(10**9), 10**9), st.sampled_from(sorted(SUFFIXES)))
def test_a_whole_number_with_a_suffix_means_number_times_power(number, suffix):
    assert parse_quantity(f"{number}{suffix}") == number * Fraction(10) ** SUFFIXES[suffix]


@given(st.integers(-(10**18), 10**18), st.booleans())
def test_what_is_printed_reads_back_as_the_same(nano, binary):
    exact = Fraction(nano, 10**9)
    assert parse_quantity(format_quantity(exact, binary=binary)) == exact


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP", max_size=12))
def test_any_text_is_a_number_or_a_bad_quantity(text):
    with suppress(BadQuantity):
        assert abs(value(text)) <= MAX_INT64 + 1
