"""Amounts in kube's notation."""

from __future__ import annotations

import pytest

from playground.presenters import words
from scheduler_core.world.readonly import Pod
from tests.scheduler_core.worlds import pod


@pytest.mark.parametrize(
    ("ns", "text"), [(0, "00:00:00.000"), (12_300_000_000, "00:00:12.300"), (3_661_001_000_000, "01:01:01.001")]
)
def test_virtual_time_is_a_clock(ns: int, text: str) -> None:
    assert words.clock(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0 s"), (1_500, "1.5 µs"), (5_000_000, "5 ms"), (1_700_000_000, "1.7 s"), (125_000_000_000, "2 min 5 s")],
)
def test_a_length_of_time_has_its_unit(ns: int, text: str) -> None:
    assert words.duration(ns) == text


@pytest.mark.parametrize(
    ("milli", "text"), [(250, "250m"), (2000, "2"), (7500, "7.5"), (2250, "2.25"), (31_999, "31.999"), (0, "0")]
)
def test_cpu_is_in_cores_or_millis(milli: int, text: str) -> None:
    assert words.cpu(milli) == text


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
    assert words.memory(size) == text


def test_other_resources_are_counted() -> None:
    assert words.amount("nvidia.com/gpu", 4) == "4"


@pytest.mark.parametrize(("size", "text"), [(1500 << 20, "1500Mi"), (32 << 30, "32Gi"), (12, "12"), (0, "0")])
def test_an_amount_can_be_said_in_whole_units(size: int, text: str) -> None:
    assert words.exact("memory", size) == text


@pytest.mark.parametrize(
    ("resource", "values", "texts"),
    [
        ("cpu", (3000, 500), ["3", "0.5"]),
        ("cpu", (300, 100), ["300m", "100m"]),
        ("memory", (559 << 30, 585_755_296 << 10), ["559Gi", "558.62Gi"]),
        ("memory", (2524 << 20, 2 << 30), ["2.465Gi", "2Gi"]),
        ("memory", ((8 << 30) + 1024, 8 << 30), ["8192.001Mi", "8192Mi"]),
        ("memory", (8 << 30, 100 << 10), ["8192Mi", "0.098Mi"]),
        ("memory", (1 << 30, 0), ["1Gi", "0"]),
        ("nvidia.com/gpu", (4, 2), ["4", "2"]),
    ],
)
def test_amounts_of_one_sentence_have_one_unit(resource: str, values: tuple[int, ...], texts: list[str]) -> None:
    assert words.amounts(resource, *values) == texts


def test_amounts_beside_each_other_are_exact_where_that_is_short_and_else_rounded_in_one_unit() -> None:
    assert words.beside("memory", 16 << 30, 3 << 29) == ["16Gi", "1.5Gi"]
    assert words.beside("memory", 585755296 << 10, 1 << 30) == ["558.6Gi", "1Gi"]
    assert words.beside("memory", 0, 62004 << 20) == ["0", "60.6Gi"]
    assert len(set(words.beside("memory", 16265757 << 10, 16265756 << 10))) == 2


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ({"cpu": "500m", "memory": "256Mi"}, ["500m cpu", "256Mi"]),
        ({"ephemeral-storage": "559Gi", "cpu": "1"}, ["1 cpu", "559Gi ephemeral-storage"]),
        ({"nvidia.com/gpu": "2", "memory": "0"}, ["2 nvidia.com/gpu"]),
        ({}, []),
    ],
)
def test_requests_are_listed_with_every_resource(requests: dict[str, str], said: list[str]) -> None:
    containers = [{"name": "c", "image": "app:v1", "resources": {"requests": requests}}]
    assert words.format_requests(Pod.from_manifest(pod("web", containers=containers))) == said
