"""Answers of the real allocator v1.34.1, where slices come by name and pools as they come up.

`recorded` has 400 cases made at random, gates and all; `kube_table` those of kube's own tests.

kube: dynamic-resource-allocation/structured/internal/allocatortesting/allocator_testing.go @ v1.34.1
"""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.apimachinery.dra.allocator import Allocator
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.features import AllocationError, DeviceFeatures
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.slices import ResourceSlice
from scheduler_core.apimachinery.dra.watch import SearchTree
from scheduler_core.apimachinery.objects.node import Node

Case = dict[str, Any]


def cases_of(name: str) -> list[Case]:
    cases: list[Case] = json.loads(lzma.decompress(Path(__file__).with_name(f"{name}.json.xz").read_bytes()))
    return cases


RECORDED, TABLE = cases_of("recorded"), cases_of("kube_table")


def answers(case: Case, watched: bool = False) -> list[Any]:
    """For each node: an allocation per claim, None, or an error."""
    features = DeviceFeatures(**case["features"])
    taken = [ResourceClaim.from_manifest(claim) for claim in case["allocated"]]
    classes = {each["metadata"]["name"]: DeviceClass.from_manifest(each) for each in case["classes"]}
    state = AllocatedState.of(taken, consumable=features.consumable)
    allocator = Allocator(features, state, classes, CelSelectors())
    slices = [ResourceSlice.from_manifest(each) for each in case["slices"]]
    claims = [ResourceClaim.from_manifest(claim) for claim in case["claims"]]
    found: list[Any] = []
    for manifest in case["nodes"]:
        try:
            watch = SearchTree() if watched else None
            results = allocator.allocate(Node.from_manifest(manifest), slices, claims, watch).results
            found.append(results and [result.manifest(lambda: "share") for result in results])
        except AllocationError as error:
            found.append({"error": str(error)})
    return found


def test_the_allocator_answers_as_kubes() -> None:
    assert [i for i, case in enumerate(RECORDED) if answers(case) != case["answers"]] == []


def test_looking_on_changes_nothing() -> None:
    assert [i for i, case in enumerate(RECORDED[::5]) if answers(case, True) != case["answers"]] == []


@pytest.mark.parametrize("case", TABLE, ids=[case["name"] for case in TABLE])
def test_kubes_own_table(case: Case) -> None:
    assert answers(case) == case["answers"]
