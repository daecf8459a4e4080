"""Replicas of a scheduler: how they start, who works, what becomes of one that is killed, told to end or cut off."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from scheduler_core.analysis.status.families import Value, read_families
from scheduler_core.base.clock.agenda import SECOND, Stream
from scheduler_core.base.trace.kinds import ObjectChanged
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.schema import API_VERSION, KIND
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.process import Clock, Stage
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import (
    ApplyObjects,
    DeleteObjects,
    PartitionScheduler,
    Ref,
    Refused,
    SetConfiguration,
    SetSettings,
    StartScheduler,
    StopScheduler,
    Undo,
)
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.worlds import node, pod

LEASE = Ref("Lease", "kube-system", "kube-scheduler")


def cluster() -> Simulation:
    """A world with a node, in which no scheduler runs yet."""
    sim = Simulation(settings=WorldSettings(cluster=ClusterSettings(controllers=())))
    sim.apply(StopScheduler("kube-scheduler", "SIGKILL"))
    sim.apply(ApplyObjects((node("n1", cpu="64"),)))
    return sim


def go_on(sim: Simulation, seconds: float) -> None:
    end = sim.now + round(seconds * SECOND)
    while sim.due(end):
        sim.advance()
    sim.agenda.now = end


def go_on_until(sim: Simulation, holds: Callable[[], bool], seconds: float = 60) -> float:
    """Seconds until it holds."""
    began = sim.now
    while not holds():
        assert sim.due(began + round(seconds * SECOND))
        sim.advance()
    return (sim.now - began) / SECOND


def two_replicas() -> Simulation:
    """`a` leads, `b` stands by."""
    sim = cluster()
    sim.apply(StartScheduler("a"))
    go_on(sim, 1)
    sim.apply(StartScheduler("b"))
    go_on(sim, 9)
    return sim


def holder(sim: Simulation) -> str:
    lease = sim.store.get("Lease", "kube-system", "kube-scheduler")
    return "" if lease is None else str(lease["spec"]["holderIdentity"]).rpartition("_")[0]


def stage(sim: Simulation, name: str) -> Stage:
    process = sim.ended[name] if name in sim.ended else sim.scheduler(name).process
    assert process is not None
    return process.stage


def node_of(sim: Simulation, name: str) -> str:
    found = sim.store.pod("default", name)
    assert found is not None
    return found.node_name


def without_election() -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": {"leaderElect": False}}


def test_a_process_lists_then_stands_for_election_then_works() -> None:
    sim = cluster()
    sim.apply(StartScheduler("a"))
    said = []
    while stage(sim, "a") is not Stage.WORKING:
        said += [r for r in sim.advance() if r.kind in ("scheduler_stage", "leader_election")]
    assert [r.data.get("stage") or r.data["what"] for r in said] == [
        "listed",
        "standby",
        "OnNewLeader",
        "acquired",
        "OnStartedLeading",
        "working",
    ]


def test_a_standby_knows_everything_and_decides_nothing() -> None:
    sim = two_replicas()
    sim.apply(ApplyObjects((pod("web"), pod("big", cpu="99"))))
    go_on(sim, 5)
    assert node_of(sim, "web") == "n1"
    standby = sim.scheduler("b")
    assert list(standby.queue.active_pods) == ["default/big"]
    assert len(standby.cache.where) == 1
    assert {attempt.scheduler for attempt in sim.journal.attempts} == {"a"}
    assert sim.journal.place("default/big") == "unschedulable"


def test_a_standby_takes_over_a_lease_duration_after_it_last_saw_a_change() -> None:
    sim = two_replicas()
    sim.apply(StopScheduler("a", "SIGKILL"))
    sim.apply(ApplyObjects((pod("web"),)))
    assert not sim.idle
    took = go_on_until(sim, lambda: holder(sim) == "b")
    assert 10.6 <= took <= 19.4
    assert sim.run().reason == "idle"
    assert node_of(sim, "web") == "n1"
    assert stage(sim, "a") is Stage.ENDED


def test_one_that_is_told_to_end_gives_the_lease_back() -> None:
    sim = two_replicas()
    sim.apply(StopScheduler("a"))
    assert stage(sim, "a") is Stage.ENDING
    assert go_on_until(sim, lambda: holder(sim) == "b") <= 4.5
    process = sim.ended["a"]
    assert process.exit_code == 0
    events = [re.sub("_[-0-9a-f]+", "", event.message) for event in sim.store.events]
    assert events == ["a became leader", "a stopped leading", "b became leader"]


def test_one_that_is_told_to_end_finishes_the_cycle_at_hand_and_begins_no_other() -> None:
    sim = two_replicas()
    sim.apply(SetSettings({"cycle_cost": 2 * SECOND}))
    sim.apply(ApplyObjects((pod("one"), pod("two"))))
    go_on(sim, 1)
    sim.apply(StopScheduler("a"))
    go_on_until(sim, lambda: "a" in sim.ended)
    assert [node_of(sim, name) for name in ("one", "two")] == ["n1", ""]


def test_one_that_is_cut_off_gives_up_after_its_deadline_and_dies() -> None:
    sim = two_replicas()
    sim.apply(PartitionScheduler("a", True))
    died = go_on_until(sim, lambda: "a" in sim.ended)
    assert 8 <= died <= 14
    assert sim.ended["a"].exit_code == 1
    assert holder(sim) == "a"
    go_on_until(sim, lambda: holder(sim) == "b")


def test_one_that_is_cut_off_hears_and_writes_nothing_until_it_is_connected_again() -> None:
    sim = two_replicas()
    sim.apply(PartitionScheduler("a", True))
    sim.apply(ApplyObjects((pod("web"),)))
    go_on(sim, 4)
    assert node_of(sim, "web") == ""
    assert sim.scheduler("a").live("default/web") is None
    sim.apply(PartitionScheduler("a", False))
    go_on(sim, 1)
    assert node_of(sim, "web") == "n1"
    assert holder(sim) == "a"


def test_a_cut_off_leader_with_a_slow_clock_leads_beside_the_next_one() -> None:
    """Nothing fences a leader: it goes on deciding until its own clock tells it to stop."""
    sim = cluster()
    sim.apply(StartScheduler("a", clock_rate=0.5))
    go_on(sim, 5)
    sim.apply(StartScheduler("b"))
    go_on(sim, 5)
    sim.apply(PartitionScheduler("a", True))
    go_on_until(sim, lambda: holder(sim) == "b")
    assert all(sim.scheduler(name).works for name in ("a", "b"))


def test_an_offset_clock_changes_what_is_written_and_nothing_else() -> None:
    sim = cluster()
    sim.apply(StartScheduler("a", clock_offset=3600 * SECOND))
    go_on(sim, 1)
    lease = sim.store.get("Lease", "kube-system", "kube-scheduler")
    assert lease is not None
    assert lease["spec"]["renewTime"].startswith("2026-01-01T01:00:00")
    sim.apply(StartScheduler("b"))
    go_on(sim, 60)
    assert holder(sim) == "a"


@pytest.mark.parametrize(("offset", "rate"), [(0, 1_000_000), (-7, 333_333), (5 * SECOND, 2_500_000)])
def test_a_clock_shows_a_time_when_it_says_so(offset: int, rate: int) -> None:
    clock = Clock(offset, rate)
    for shown in (offset, 12_345, 10**12):
        assert clock.at(clock.when(shown)) >= shown > clock.at(clock.when(shown) - 1)


def test_without_election_every_replica_works() -> None:
    sim = cluster()
    for name in ("a", "b"):
        sim.apply(StartScheduler(name, without_election()))
    sim.apply(ApplyObjects(tuple(pod(f"p{i}") for i in range(4))))
    assert sim.run().reason == "idle"
    assert sim.store.get("Lease", "kube-system", "kube-scheduler") is None
    assert all(node_of(sim, f"p{i}") == "n1" for i in range(4))


def test_one_whose_cache_is_delayed_lists_only_when_it_leads() -> None:
    sim = cluster()
    delayed = {"apiVersion": API_VERSION, "kind": KIND, "delayCacheUntilActive": True}
    sim.apply(StartScheduler("a"))
    go_on(sim, 1)
    sim.apply(StartScheduler("b", delayed))
    sim.apply(ApplyObjects((pod("web", cpu="99"),)))
    go_on(sim, 5)
    assert not sim.scheduler("b").cache.slots
    sim.apply(StopScheduler("a"))
    go_on(sim, 6)
    assert stage(sim, "b") is Stage.WORKING
    assert list(sim.scheduler("b").cache.slots) == ["n1"]
    assert sim.scheduler("b").queue.metrics.attempts["default-scheduler", "unschedulable"] == 1


def test_renewals_leave_no_record_and_no_work() -> None:
    sim = two_replicas()
    assert sim.idle
    kinds: list[str] = []
    while sim.due(40 * SECOND):
        kinds += [record.kind for record in sim.advance()]
    assert kinds == []


def test_a_change_of_who_leads_is_a_change_of_the_object() -> None:
    sim = two_replicas()
    sim.apply(StopScheduler("a"))
    go_on(sim, 1)
    changed: list[str] = []
    while holder(sim) != "b":
        changed += [record.facts.name for record in sim.advance() if isinstance(record.facts, ObjectChanged)]
    assert changed == ["kube-scheduler"]


def test_a_deleted_lease_is_made_again() -> None:
    sim = two_replicas()
    sim.apply(DeleteObjects((LEASE,)))
    go_on(sim, 30)
    assert holder(sim) in ("a", "b")
    assert [s.name for s in sim.schedulers if s.works] == [holder(sim)]


def test_metrics_say_who_leads() -> None:
    sim = two_replicas()
    for name, leads in (("a", 1), ("b", 0)):
        family = next(f for f in read_families(sim.scheduler(name)) if f.metric.name.endswith("master_status"))
        assert family.series == (Value(("kube-scheduler",), leads),)


def test_a_fork_and_a_world_that_was_written_and_read_go_on_alike() -> None:
    sim = two_replicas()
    sim.apply(PartitionScheduler("a", True))
    sim.apply(ApplyObjects((pod("web"),)))
    go_on(sim, 3)
    archive = Archive()
    read = decode(encode(sim, archive), archive)
    worlds = [sim, sim.fork(), read.fork()]
    said = []
    for world in worlds:
        records = []
        while world.due(60 * SECOND):
            records += [record.to_json() for record in world.advance()]
        said.append(records)
    assert holder(sim) == "b"
    assert said[0] == said[1] == said[2]


def test_another_seed_jitters_otherwise() -> None:
    turns = set()
    for seed in range(3):
        sim = Simulation(seed, WorldSettings(cluster=ClusterSettings(controllers=())))
        sim.apply(StopScheduler("kube-scheduler", "SIGKILL"))
        sim.apply(StartScheduler("a"))
        go_on(sim, 1)
        sim.apply(StartScheduler("b"))
        go_on(sim, 1)
        process = sim.scheduler("b").process
        assert process is not None
        assert process.elector is not None
        turns.add(process.elector.wake_at)
    assert len(turns) == 3


def test_a_new_configuration_makes_a_replica_another_candidate() -> None:
    sim = two_replicas()
    before = sim.scheduler("a").process
    assert before is not None
    sim.apply(SetConfiguration({"apiVersion": API_VERSION, "kind": KIND}, "a"))
    after = sim.scheduler("a").process
    assert after is not None
    assert after.identity != before.identity
    assert stage(sim, "a") is Stage.STARTING


def test_processes_are_no_edits_that_can_be_undone() -> None:
    sim = two_replicas()
    sim.apply(ApplyObjects((pod("web", cpu="99"),)))
    sim.apply(StopScheduler("b", "SIGKILL"))
    sim.apply(Undo())
    assert sim.store.pod("default", "web") is None
    assert [scheduler.name for scheduler in sim.schedulers] == ["a"]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (StartScheduler("a"), "a name that no running scheduler has"),
        (StopScheduler("c"), "one of a, b"),
        (PartitionScheduler("a", False), "a is already connected"),
        (
            StartScheduler("c", {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": {"leaseDuration": "5s"}}),
            "must be greater than `RenewDeadline`",
        ),
    ],
)
def test_what_is_refused_leaves_the_world_as_it_is(command: Any, error: str) -> None:
    sim = two_replicas()
    with pytest.raises(Refused) as refused:
        sim.apply(command)
    assert error in str(refused.value)
    assert [scheduler.name for scheduler in sim.schedulers] == ["a", "b"]


def test_calls_of_one_that_is_cut_off_fail() -> None:
    sim = two_replicas()
    sim.apply(SetSettings({"bind_cost": SECOND}))
    sim.apply(ApplyObjects((pod("web"),)))
    go_on_until(sim, lambda: bool(sim.scheduler("a").bindings))
    sim.apply(PartitionScheduler("a", True))
    go_on(sim, 2)
    assert node_of(sim, "web") == ""
    assert sim.journal.attempts[-1].pod == "default/web"


def test_a_step_passes_over_renewals_where_something_else_is_to_happen() -> None:
    sim = two_replicas()
    sim.apply(ApplyObjects((pod("web", cpu="99"),)))
    go_on(sim, 1)
    assert sim.idle
    sim.apply(StopScheduler("a", "SIGKILL"))
    before = sim.now
    assert [record.kind for record in sim.step(Grain.POINT)] != []
    assert sim.now - before > 10 * SECOND


def test_a_candidate_that_can_never_lead_leaves_a_world_idle() -> None:
    """Its lease would be in a namespace that is not there."""
    sim = cluster()
    nowhere = {"leaderElection": {"resourceNamespace": "nowhere"}}
    sim.apply(StartScheduler("a", {"apiVersion": API_VERSION, "kind": KIND, **nowhere}))
    sim.apply(ApplyObjects((pod("web"),)))
    assert sim.run(steps=100).reason == "idle"
    assert stage(sim, "a") is Stage.STANDBY


def test_the_journal_keeps_who_was_what_when() -> None:
    sim = two_replicas()
    sim.apply(PartitionScheduler("a", True))
    go_on_until(sim, lambda: holder(sim) == "b")
    states = [(move.scheduler, move.state, move.cut_off) for move in sim.journal.processes]
    assert [state for name, state, _ in states if name == "b"][-1] == "leading"
    of_a = [(state, cut_off) for name, state, cut_off in states if name == "a"]
    assert of_a[-2:] == [("leading", True), ("ended", True)]


def test_a_gate_that_is_read_at_the_start_has_processes_start_again() -> None:
    sim = two_replicas()
    before = {s.name: s.process.identity for s in sim.schedulers if s.process is not None}
    sim.apply(SetSettings({"async_api_calls": False}))
    after = {s.name: s.process.identity for s in sim.schedulers if s.process is not None}
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())
    go_on(sim, 30)
    assert holder(sim) in ("a", "b")


def test_a_scheduler_that_was_there_before_can_be_cut_off_and_elects_nobody_afterwards() -> None:
    sim = Simulation(settings=WorldSettings(cluster=ClusterSettings(controllers=())))
    sim.apply(PartitionScheduler("kube-scheduler", True))
    sim.apply(ApplyObjects((node("n1"), pod("web"))))
    go_on(sim, 5)
    assert node_of(sim, "web") == ""
    sim.apply(PartitionScheduler("kube-scheduler", False))
    go_on(sim, 5)
    assert node_of(sim, "web") == "n1"
    sim.apply(SetConfiguration({"apiVersion": API_VERSION, "kind": KIND}))
    assert sim.scheduler("kube-scheduler").process is None


def test_the_same_commands_make_the_same_world() -> None:
    one, two = two_replicas(), two_replicas()
    assert encode(one, Archive()) == encode(two, Archive())


@pytest.mark.parametrize("seed", range(12))
def test_with_clocks_of_one_rate_never_two_lead(seed: int) -> None:
    """Whatever is killed, cut off, connected, told to end and started again; and somebody leads again in the end."""
    sim, draws = cluster(), Stream(seed)
    for turn in range(40):
        name = "abc"[draws.below(3)]
        running = {s.name: s for s in sim.schedulers}
        if name not in running:
            sim.apply(StartScheduler(name, clock_offset=draws.below(100) * SECOND))
        elif running[name].hang is not None:
            sim.apply(PartitionScheduler(name, False))
        elif turn % 2:
            sim.apply(PartitionScheduler(name, True, hang=draws.below(8) * SECOND))
        elif stage(sim, name) is not Stage.ENDING:
            sim.apply(StopScheduler(name, ("SIGTERM", "SIGKILL")[draws.below(2)]))
        end = sim.now + draws.below(20) * SECOND
        while sim.due(end):
            sim.advance()
            leaders = [s.name for s in sim.schedulers if s.process is not None and s.process.leads]
            assert len(leaders) <= 1, leaders
        sim.agenda.now = end
    for scheduler in sim.schedulers:
        if scheduler.hang is not None:
            sim.apply(PartitionScheduler(scheduler.name, False))
    if "d" not in {s.name for s in sim.schedulers}:
        sim.apply(StartScheduler("d"))
    go_on(sim, 60)
    assert [s.name for s in sim.schedulers if s.works] == [holder(sim)]
