"""Amounts in kube's notation."""

from __future__ import annotations

import pytest

from playground.presenters import amounts


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "00:00:00.000"), (12_300_000_000, "00:00:12.300"), (3_661_001_000_000, "01:01:01.001")],
)
def test_virtual_time_is_a_clock(ns: int, text: str) -> None:
    assert amounts.clock(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 s"),
        (1_500, "1.5 µs"),
        (5_000_000, "5 ms"),
        (1_700_000_000, "1.7 s"),
        (125_000_000_000, "2 min 5 s"),
    ],
)
def test_a_length_of_time_has_its_unit(ns: int, text: str) -> None:
    assert amounts.duration(ns) == text


@pytest.mark.parametrize(
    ("milli", "text"),
    [(250, "250m"), (2000, "2"), (7500, "7.5"), (2250, "2.25"), (31_999, "31.999"), (0, "0")],
)
def test_cpu_is_in_cores_or_millis(milli: int, text: str) -> None:
    assert amounts.cpu(milli) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (256 << 20, "256Mi"),
        (32 << 30, "32Gi"),
        (3 << 29, "1.5Gi"),
        (16_265_756 << 10, "16265756Ki"),
        (10**9, "1G"),
        (123_456_789, "123456789"),
        (1536, "1.5Ki"),
        (12, "12"),
        (0, "0"),
    ],
)
def test_memory_is_exact_in_the_unit_that_says_it_shortest(size: int, text: str) -> None:
    assert amounts.memory(size) == text


def test_other_resources_are_counted() -> None:
    assert amounts.amount("nvidia.com/gpu", 4) == "4"


@pytest.mark.parametrize(("size", "text"), [(1500 << 20, "1500Mi"), (32 << 30, "32Gi"), (12, "12"), (0, "0")])
def test_an_amount_can_be_said_in_whole_units(size: int, text: str) -> None:
    assert amounts.exact("memory", size) == text
