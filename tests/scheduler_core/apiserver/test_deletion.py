"""What DELETE does: grace periods, which may only be shortened, and finalizers, which hold objects back."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster, delete, make, meta_of, patch, wait
from tests.scheduler_core.worlds import pod


def one_pod(phase: str = "Running", node: str = "n", **metadata: Any) -> Simulation:
    manifest = {**pod("p", **({"nodeName": node} if node else {})), "status": {"phase": phase}}
    manifest["metadata"] |= {"namespace": "default", **metadata}
    return cluster(manifest, controllers=[])


def ending(sim: Simulation) -> tuple[str, int] | None:
    meta = meta_of(sim, "Pod", "p")
    return None if meta is None else (meta["deletionTimestamp"][14:19], meta["deletionGracePeriodSeconds"])


@pytest.mark.parametrize(
    ("asked", "marks"),
    [({}, ("00:30", 30)), ({"grace_period_seconds": 5}, ("00:05", 5)), ({"grace_period_seconds": -3}, ("00:01", 1))],
    ids=["its own", "asked for", "negative is one second"],
)
def test_a_running_pod_is_given_time(asked: dict[str, int], marks: tuple[str, int]) -> None:
    sim = one_pod()
    delete(sim, "Pod", "p", **asked)
    assert ending(sim) == marks


@pytest.mark.parametrize("options", [{"grace_period_seconds": 0}], ids=["forced"])
def test_without_time_it_is_gone_at_once(options: dict[str, int]) -> None:
    sim = one_pod()
    delete(sim, "Pod", "p", **options)
    assert ending(sim) is None


@pytest.mark.parametrize(("phase", "node"), [("Succeeded", "n"), ("Failed", "n"), ("Pending", "")])
def test_what_has_ended_or_never_began_needs_no_time(phase: str, node: str) -> None:
    sim = one_pod(phase, node)
    delete(sim, "Pod", "p")
    assert ending(sim) is None


@pytest.mark.parametrize(
    ("second", "marks"),
    [(60, ("00:30", 30)), (30, ("00:30", 30)), (20, ("00:20", 20)), (4, ("00:10", 1)), (0, None)],
    ids=["longer", "as long", "shorter", "over already", "none"],
)
def test_deleting_again_may_only_shorten(second: int, marks: tuple[str, int] | None) -> None:
    sim = one_pod()
    delete(sim, "Pod", "p")
    wait(sim, 10)
    delete(sim, "Pod", "p", grace_period_seconds=second)
    assert ending(sim) == marks


def test_a_pod_with_a_finalizer_stays_when_its_time_is_over() -> None:
    sim = one_pod(finalizers=["example.com/hold"])
    delete(sim, "Pod", "p")
    delete(sim, "Pod", "p", grace_period_seconds=0)
    assert ending(sim) == ("00:00", 0)
    patch(sim, "Pod", "p", {"metadata": {"finalizers": None}})
    assert ending(sim) is None


def test_a_finalizer_that_goes_first_leaves_the_pod_its_time() -> None:
    sim = one_pod(finalizers=["example.com/hold"])
    delete(sim, "Pod", "p")
    patch(sim, "Pod", "p", {"metadata": {"finalizers": None}})
    assert ending(sim) == ("00:30", 30)


@pytest.mark.parametrize(
    ("given", "policy", "kept"),
    [
        (["x/y"], "Orphan", ["x/y", "orphan"]),
        (["orphan"], "Foreground", ["foregroundDeletion"]),
        (["foregroundDeletion", "x/y"], "Background", ["x/y"]),
        (["orphan"], None, ["orphan"]),
    ],
)
def test_the_policy_says_which_finalizer_of_the_collector_holds_an_object(
    given: list[str], policy: str | None, kept: list[str]
) -> None:
    sim = cluster(make("ConfigMap", "c", metadata={"finalizers": given}), controllers=[])
    delete(sim, "ConfigMap", "c", **({"propagation_policy": policy} if policy else {}))
    meta = meta_of(sim, "ConfigMap", "c")
    assert meta is not None
    assert meta["finalizers"] == kept
    assert meta["deletionTimestamp"]
