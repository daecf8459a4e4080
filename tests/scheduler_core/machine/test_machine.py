"""A world to which hypothesis does whatever it likes; after every transition the invariants hold, and in the end pods that fit run.

CONTRIBUTING.md says how to have 1,000 worlds made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.records import Record
from scheduler_core.world.commands import (
    ApplyObjects,
    Command,
    DecidePermit,
    DeleteObjects,
    PatchObject,
    Ref,
    SetSettings,
)
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.machine import objects
from tests.scheduler_core.machine.ending import everything_that_fits_is_bound, run_out
from tests.scheduler_core.machine.invariants import check, first_in_line
from tests.scheduler_core.machine.replay import Log, assert_same, replayed
from tests.scheduler_core.world.checkpoint.rich import again as read_again

pytestmark = pytest.mark.timeout(0)  # 1,000 worlds take minutes

Manifests = tuple[dict[str, Any], ...]
Settings = dict[str, Any]
Wait = int | Grain
MOST = 400  # transitions of one wait; larger numbers are virtual nanoseconds
WAITS = st.one_of(
    st.just(0),
    st.integers(1, 40),
    st.sampled_from([1_000_000, 3_000_000_000, 12_000_000_000, 70_000_000_000]),
    st.sampled_from(list(Grain)),
)


class Worlds(RuleBasedStateMachine):
    """One world and the log of what was done to it."""

    @initialize(
        seed=st.integers(0, 3),
        around=st.lists(objects.SETTINGS, max_size=2),
        demonstration=st.sampled_from([True, True, False]),
        nodes=objects.several(objects.nodes(), 1, 3),
        pods=objects.several(objects.pods(), 3, 6),
        storage=objects.several(objects.storage(), 0, 3),
    )
    def begin(
        self,
        seed: int,
        around: list[Settings],
        demonstration: bool,
        nodes: Manifests,
        pods: Manifests,
        storage: Manifests,
    ) -> None:
        self.seed = seed
        self.sim = Simulation(seed=seed)
        self.log = Log()
        self.kept: tuple[Simulation, int] | None = None
        self.order(SetSettings({"demonstration": demonstration}))
        for change in around:
            self.order(SetSettings(change))
        self.order(ApplyObjects(objects.fixtures()))
        self.order(ApplyObjects((*nodes, *storage)))
        self.order(ApplyObjects(pods))

    # Doing things

    def do(self, change: Callable[[Simulation], list[Record]]) -> None:
        at, now = self.sim.position, self.sim.now
        records = change(self.sim)
        self.log.changes.append((at, change))
        self.note(records, now)

    def note(self, records: list[Record], since: int) -> None:
        for record in records:
            assert record.t >= since, "time went back"
        self.log.records += [record.to_json() for record in records]

    def order(self, command: Command) -> None:
        """A command; one that is refused changes nothing."""
        before = (self.sim.position, self.sim.now, self.sim.store.resource_version)
        try:
            self.do(lambda sim: sim.apply(command))
        except Refused:
            assert before == (self.sim.position, self.sim.now, self.sim.store.resource_version)

    def advance(self) -> None:
        now, first = self.sim.now, {s.name: first_in_line(s) for s in self.sim.schedulers}
        records = self.sim.advance()
        self.note(records, now)
        for record in records:
            if record.kind == "queue_moved" and record.data["to"] == Place.IN_FLIGHT:
                assert record.data["pod"] == first[record.scheduler], "popped out of turn"

    def wait(self, until: Wait) -> None:
        """A number of transitions, a step of a grain, or a while of virtual time; every transition is looked at but those within a step."""
        if isinstance(until, Grain):
            now = self.sim.now
            self.note(self.sim.step(until), now)
            return
        steps, time = (until, None) if until <= MOST else (MOST, self.sim.now + until)
        for _ in range(steps):
            if time is not None and not self.sim.due(time):
                break
            self.advance()
            check(self.sim)

    # Rules: each does something and lets some time pass

    @rule(manifests=objects.several(objects.pods(), 1, 4), after=WAITS)
    def create_or_change_pods(self, manifests: Manifests, after: Wait) -> None:
        self.order(ApplyObjects(manifests))
        self.wait(after)

    @rule(name=objects.PODS, patch=objects.POD_PATCHES, after=WAITS)
    def change_pod(self, name: str, patch: Settings | None, after: Wait) -> None:
        ref = Ref("Pod", "default", name)
        self.order(DeleteObjects((ref,)) if patch is None else PatchObject(ref, patch))
        self.wait(after)

    @rule(manifest=objects.nodes(), after=WAITS)
    def create_or_change_node(self, manifest: Settings, after: Wait) -> None:
        self.order(ApplyObjects((manifest,)))
        self.wait(after)

    @rule(name=objects.NODES, patch=objects.NODE_PATCHES, after=WAITS)
    def change_node(self, name: str, patch: Settings | None, after: Wait) -> None:
        ref = Ref("Node", "", name)
        self.order(DeleteObjects((ref,)) if patch is None else PatchObject(ref, patch))
        self.wait(after)

    @rule(manifest=objects.OTHERS, delete=st.booleans(), after=WAITS)
    def change_storage_or_budgets(self, manifest: Settings, delete: bool, after: Wait) -> None:
        meta = manifest["metadata"]
        ref = Ref(manifest["kind"], meta.get("namespace", ""), meta["name"])
        self.order(DeleteObjects((ref,)) if delete else ApplyObjects((manifest,)))
        self.wait(after)

    @rule(command=objects.SURROUNDINGS, after=WAITS)
    def change_what_is_around(self, command: Command, after: Wait) -> None:
        """Settings, schedulers, edits taken back."""
        self.order(command)
        self.wait(after)

    @precondition(lambda self: any(not pod.node_name for pod in self.sim.store.pods()))
    @rule(data=st.data(), fault=objects.FAULTS, after=WAITS)
    def fail_a_call(self, data: st.DataObject, fault: tuple[str, int, bool, bool], after: Wait) -> None:
        """Of a pod that is pending; of any pod where it is to be deleted."""
        pods = [p.key for p in self.sim.store.pods() if fault[0] == "delete" or not p.node_name]
        self.order(objects.failing(data.draw(st.sampled_from(pods)), *fault))
        self.wait(after)

    @precondition(lambda self: any(s.pods_waiting() for s in self.sim.schedulers))
    @rule(data=st.data(), decision=st.sampled_from(["allow", "reject"]))
    def decide_permit(self, data: st.DataObject, decision: str) -> None:
        waiting = [b.pod.key for s in self.sim.schedulers for b in s.pods_waiting()]
        self.order(DecidePermit(data.draw(st.sampled_from(waiting)), decision))

    @rule(after=WAITS)
    def let_time_pass(self, after: Wait) -> None:
        self.wait(after)

    # Rules: time travel

    @rule(written=st.booleans())
    def keep_and_go_on_with_a_copy(self, written: bool) -> None:
        """A fork, or what is read from the bytes that were written."""
        self.kept = self.sim.fork(), len(self.log.records)
        self.sim = read_again(self.sim) if written else self.sim.fork()

    @precondition(lambda self: self.kept is not None)
    @rule()
    def the_checkpoint_has_the_same_future(self) -> None:
        assert self.kept is not None
        checkpoint, had = self.kept
        later = Log([c for c in self.log.changes if c[0] >= checkpoint.position])
        again = replayed(later, checkpoint.fork(), self.sim.position)
        assert_same(again, self.log.records[had:])

    # What holds

    @invariant()
    def what_holds(self) -> None:
        check(self.sim)

    def teardown(self) -> None:
        if not hasattr(self, "sim"):
            return
        position, records = self.sim.position, list(self.log.records)
        assert_same(replayed(self.log, Simulation(seed=self.seed), position), records)
        run_out(self.sim)
        everything_that_fits_is_bound(self.sim)


TestWorlds = Worlds.TestCase
TestWorlds.settings = settings(stateful_step_count=40)
