"""Coscheduling, TargetLoadPacking and NodeResourcesAllocatable: ours, after the plugins of other repositories."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.plugins.outoftree.coscheduling import LABEL, MIN_MEMBER
from scheduler_core.scheduler.plugins.outoftree.target_load_packing import ANNOTATION
from scheduler_core.testing.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_table
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.own.worlds import profile, world
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, settle
from tests.support.drive import make_plugin, normalize_node_scores, score_nodes

SECOND = 1_000_000_000
PATIENCE = {"Coscheduling": {"permitWaitingTimeSeconds": 5}}


def member(group: str, i: int, of: int = 2, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    manifest = pod(f"{group}-{i}", cpu, {MIN_MEMBER: str(of)}, **spec)
    manifest["metadata"]["labels"] = {LABEL: group}
    return manifest


def gang(group: str, of: int = 2, **more: Any) -> tuple[dict[str, Any], ...]:
    return tuple(member(group, i, of, **more) for i in range(of))


def bound(sim: Simulation) -> list[str]:
    return sorted(key.partition("/")[2] for key, on in nodes_of(sim).items() if on)


# Coscheduling


def test_the_members_of_a_group_are_bound_together() -> None:
    sim = world(profile("Coscheduling", args=PATIENCE), node("a", cpu="3"), *gang("train", 3))
    records = settle(sim)
    assert bound(sim) == ["train-0", "train-1", "train-2"]
    decided = [(said["pod"], said["decision"]) for said in of_kind(records, "wait_decided")]
    assert decided == [("default/train-0", "allow"), ("default/train-1", "allow")]
    ended = [record.t for record in records if record.kind == "wait_ended"]
    assert len(set(ended)) == 1


def test_a_group_that_lacks_members_is_refused_before_a_node_is_looked_for() -> None:
    sim = world(profile("Coscheduling"), node("a"), member("train", 0, of=3))
    sim.run(until=lambda w: bool(w.journal.attempts))
    said = "pre-filter pod train-0 cannot find enough sibling pods, current pods number: 1, minMember of group: 3"
    assert said in sim.journal.attempts[0].message


def test_the_missing_member_brings_the_others_back() -> None:
    sim = world(profile("Coscheduling"), node("a"), member("train", 0))
    sim.run(until=lambda w: bool(w.journal.attempts))
    sim.apply(ApplyObjects((member("train", 1),)))
    settle(sim)
    assert bound(sim) == ["train-0", "train-1"]


def test_a_group_that_does_not_fit_whole_holds_nothing() -> None:
    sim = world(profile("Coscheduling", args=PATIENCE), node("a", cpu="2"), *gang("train", 3), pod("single"))
    sim.run(until=lambda w: w.now > 30 * SECOND, steps=4_000)
    assert bound(sim) == ["single"]


def interleaved(*names: str, off: dict[str, list[str]]) -> Simulation:
    """Two groups of two, whose pods come by turns, on a node with room for two."""
    one, two = gang("one"), gang("two")
    chosen = profile(*names, args=PATIENCE, off=off)
    return world(chosen, node("a", cpu="2"), one[0], two[0], one[1], two[1])


def test_two_groups_that_hold_a_part_each_wait_for_each_other_until_the_time_is_up() -> None:
    sim = interleaved("Coscheduling", off={"postFilter": ["Coscheduling"]})
    sim.run(until=lambda w: w.now >= 4 * SECOND)
    assert bound(sim) == []
    assert {sim.journal.place(f"default/{group}-0") for group in ("one", "two")} == {Place.WAITING}
    records = sim.run(until=lambda w: w.now > 6 * SECOND).records
    why = [end["status"]["reasons"] for end in of_kind(records, "wait_ended")]
    assert ["rejected due to timeout after waiting 5s at plugin Coscheduling"] in why


def test_rejecting_a_group_that_fits_nowhere_ends_the_deadlock_early() -> None:
    sim = interleaved("Coscheduling", off={})
    sim.run(until=lambda w: len(bound(w)) == 2, steps=2_000)
    assert bound(sim) in (["one-0", "one-1"], ["two-0", "two-1"])
    assert sim.now < 5 * SECOND


def test_a_queue_that_keeps_groups_together_has_no_deadlock() -> None:
    off = {"queueSort": ["PrioritySort"], "postFilter": ["Coscheduling"]}
    sim = interleaved("Coscheduling", "CoschedulingSort", off=off)
    sim.run(until=lambda w: len(bound(w)) == 2, steps=2_000)
    assert bound(sim) == ["one-0", "one-1"]
    assert sim.now < SECOND


def test_what_a_pod_says_badly_of_its_group_is_refused() -> None:
    manifest = member("train", 0)
    manifest["metadata"]["annotations"][MIN_MEMBER] = "many"
    sim = world(profile("Coscheduling"), node("a"), manifest)
    sim.run(until=lambda w: bool(w.journal.attempts))
    assert f'{MIN_MEMBER}: "many" is not understood; expected a whole number' in sim.journal.attempts[0].message


def test_a_fork_of_waiting_pods_goes_its_own_way() -> None:
    sim = world(profile("Coscheduling", args=PATIENCE), node("a"), member("train", 0), member("train", 1, cpu="9"))
    sim.run(until=lambda w: w.journal.place("default/train-0") == Place.WAITING)
    other = sim.fork()
    other.apply(ApplyObjects((node("b", cpu="9"),)))
    other.run(until=lambda w: len(bound(w)) == 2, steps=2_000)
    assert (bound(sim), bound(other)) == ([], ["train-0", "train-1"])


# NodeResourcesAllocatable


@pytest.mark.parametrize(("mode", "best"), [("Least", "small"), ("Most", "large")])
def test_small_nodes_are_filled_first_or_large_ones(mode: str, best: str) -> None:
    nodes = make_table(
        [
            make_node("small").capacity(cpu="2", memory="4Gi"),
            make_node("middle").capacity(cpu="4", memory="8Gi"),
            make_node("large").capacity(cpu="10", memory="20Gi"),
        ]
    )
    plugin = make_plugin("NodeResourcesAllocatable", {"mode": mode})
    scores = normalize_node_scores(plugin, make_pod("p").pod(), nodes)
    assert scores is not None
    assert scores[best] == 100
    assert scores["middle"] == (75 if mode == "Least" else 25)


def test_nodes_alike_score_nothing() -> None:
    nodes = make_table([make_node(name).capacity(cpu="2", memory="4Gi") for name in "ab"])
    assert normalize_node_scores(make_plugin("NodeResourcesAllocatable"), make_pod("p").pod(), nodes) == {
        "a": 0,
        "b": 0,
    }


# TargetLoadPacking


def measured(used: str | None) -> NodeBuilder:
    """A node of 10 CPUs, of which so many percent are used."""
    manifest = make_node("a").capacity(cpu="10", memory="8Gi").manifest()
    if used is not None:
        manifest["metadata"]["annotations"] = {ANNOTATION: used}
    return NodeBuilder(manifest)


@pytest.mark.parametrize(
    ("used", "score"), [("0", 55), ("10", 70), ("30", 100), ("30.5", 40), ("60", 20), ("90", 0), ("95", 0), (None, 0)]
)
def test_load_is_packed_up_to_the_target_and_spread_beyond(used: str | None, score: int) -> None:
    made = measured(used)
    web = make_pod("p").with_spec(containers=[{"name": "c", "resources": {"limits": {"cpu": "1"}}}]).pod()
    assert score_nodes(make_plugin("TargetLoadPacking"), web, make_table([made])) == {"a": score}


def test_a_pod_that_does_not_run_yet_counts_by_what_it_asks() -> None:
    manifest = {**make_pod("started").requests(cpu="2").on("a").manifest(), "status": {"phase": "Pending"}}
    table = make_table([measured("0")], [PodBuilder(manifest)])
    web = make_pod("p").requests(cpu="2").pod()  # each is expected to use half as much again
    assert score_nodes(make_plugin("TargetLoadPacking"), web, table) == {"a": 27}


def test_a_load_that_is_no_percentage_ends_the_cycle_as_an_error() -> None:
    sim = world(
        profile("TargetLoadPacking"),
        node("a", annotations={ANNOTATION: "much"}),
        node("b", annotations={ANNOTATION: "5"}),
        pod("web"),
    )
    sim.run(until=lambda w: bool(w.journal.attempts))
    assert sim.journal.attempts[0].message == (
        'running Score plugins: plugin "TargetLoadPacking" failed with: node a: '
        f'{ANNOTATION}: "much" is not a percentage; write it as 45'
    )


def test_arguments_that_only_others_know_have_no_effect() -> None:
    given = {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "podGroupBackoffSeconds": 3}
    sim = world(profile("Coscheduling", args={"Coscheduling": given}), node("a"), *gang("train"))
    settle(sim)
    assert bound(sim) == ["train-0", "train-1"]


def test_arguments_of_one_that_no_profile_enables_are_left_alone() -> None:
    sim = world(profile(args={"NodeResourcesAllocatable": {"mode": 7}}))
    assert sim.schedulers[0].configuration.profiles[0].args["NodeResourcesAllocatable"] == {"mode": 7}


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("Coscheduling", {"permitWaitingTimeSeconds": "soon"}, "expected an integer"),
        ("Coscheduling", {"permitWaitingTimeSeconds": 0}, "must be greater than 0"),
        ("NodeResourcesAllocatable", {"mode": "Some"}, 'supported values: "Least", "Most"'),
        (
            "NodeResourcesAllocatable",
            {"resources": [{"name": "cpu", "weight": -1}]},
            "resource weight of cpu should be a positive value, got -1",
        ),
        ("TargetLoadPacking", {"targetUtilization": 100}, "must be greater than 0 and less than 100"),
        ("TargetLoadPacking", {"defaultRequestsMultiplier": "0.5"}, "must be a number greater than or equal to 1"),
        ("TargetLoadPacking", {"defaultRequests": {"cpu": "lots"}}, "defaultRequests.cpu"),
    ],
)
def test_bad_arguments_are_refused(name: str, args: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match="pluginConfig"):
        world(profile(name, args={name: args}))
    with pytest.raises(Refused) as refused:
        world(profile(name, args={name: args}))
    assert said in str(refused.value)
