"""The present step in one sentence."""

from __future__ import annotations

from typing import Any

from django.utils.html import strip_tags

from playground.lessons import lesson_of
from playground.lessons.play import begin_lesson
from playground.presenters.look import Look
from playground.presenters.narrator import present
from playground.presenters.sentences.records import of_step
from playground.templatetags.studio import translated
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Grain, Simulation
from tests.playground.preemption_world import objects
from tests.playground.presenters.worlds import (
    decided,
    empty_world,
    many_nodes,
    node,
    pod,
    ran,
    shown,
    three_nodes,
    until,
    world,
)


def context(sim: Simulation) -> dict[str, Any]:
    return shown("narrator", sim)["context"]


def said(sim: Simulation) -> str:
    found = context(sim)
    return f"{found['head']}: {strip_tags(translated(found['sentence']))}"


def test_an_empty_world_says_what_to_do_next() -> None:
    assert said(empty_world()) == ": Nothing has happened yet: add nodes and pods, then step."


def test_a_new_session_whose_release_was_set_says_the_same() -> None:
    sim = empty_world()
    sim.apply(SetSettings({"release": "1.37.2"}))
    assert said(sim) == ": Nothing has happened yet: add nodes and pods, then step."
    assert not context(sim)["idle"]


def test_a_refusal_names_plugin_count_and_reason() -> None:
    sim = until(three_nodes(), ran("Filter", "NodeResourcesFit"))
    assert said(sim) == "Filter · NodeResourcesFit: NodeResourcesFit refuses 1 of 2 nodes for web-1: Insufficient cpu"


def test_an_import_is_counted() -> None:
    assert said(three_nodes()) == "Cluster change: 4 objects applied."


def test_a_deletion_is_counted() -> None:
    sim = three_nodes()
    sim.apply(DeleteObjects((Ref("Node", "", "free"),)))
    assert said(sim) == "Cluster change: 1 object deleted."


def test_a_tie_is_told_with_its_draw() -> None:
    sim = until(
        world(node("a"), node("b"), pod("web-1", cpu="2")), lambda s: any(r.kind == "node_selected" for r in s.last)
    )
    chosen = sim.schedulers[0].cycle.chosen
    assert said(sim) == (
        f"Select: 2 nodes share the highest total score for web-1. The scheduler picks {chosen} at random."
    )


def test_the_end_of_a_failed_attempt_gives_kubes_message_apart() -> None:
    sim = until(three_nodes(pod("huge", cpu="64")), decided())
    assert said(sim).endswith("huge is unschedulable.")
    assert present(sim, Look()).context["kube"] == sim.journal.attempts[0].message


def test_the_end_of_a_run_is_summed_up() -> None:
    sim = three_nodes(pod("web-1"), pod("huge", cpu="64", priority=9))
    until(sim, lambda one: present(one, Look()).context["head"] == "Run finished")
    assert said(sim) == "Run finished: Nothing is left to schedule. Pods that wait for an event: 1."


def test_every_step_of_a_world_is_told() -> None:
    sim = three_nodes(pod("web-1"), pod("huge", cpu="64"))
    while sim.advance() and sim.position < 120:
        assert context(sim)["sentence"], f"step {sim.position}: {[record.kind for record in sim.last]}"
    assert sim.position == 120


def test_an_evictions_first_step_is_told() -> None:
    sim = until(world(*objects()), lambda s: any(r.kind == "preemption_started" for r in s.last))
    assert said(sim).startswith("Preemption: ")


def test_a_preemption_is_told_with_what_came_of_it() -> None:
    sim = until(world(*objects()), ran("PostFilter", "DefaultPreemption"))
    assert said(sim).endswith("ml-train-0 is nominated to node-b2: preempting 2 pods makes room.")


def test_an_idle_world_tells_of_timers_that_are_left() -> None:
    sim = three_nodes(pod("huge", cpu="64"))
    sim.run()
    assert context(sim)["idle"]
    assert context(sim)["timers"] == bool(sim.step(Grain.CALL))


def test_a_timer_without_a_record_is_told_as_the_end_of_the_run() -> None:
    lesson = lesson_of("cut-off")
    assert lesson is not None
    sim, _ = begin_lesson(lesson)
    while not (sim.idle and sim.journal.attempts and not sim.last) and sim.position < 200:
        sim.step(Grain.CALL)
    assert said(sim) == "Run finished: Nothing is left to schedule."


def test_what_a_stranger_named_is_escaped() -> None:
    message = {"text": "%(pod)s & %(reason)s", "values": {"pod": "<b>", "reason": "<i>"}}
    assert translated(message) == "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"


def test_the_profile_is_the_present_cycles_and_before_any_the_first_one() -> None:
    manifest = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "packing"}],
    }
    sim = empty_world()
    sim.apply(SetConfiguration(manifest))
    assert shown("transport", sim)["context"]["profile"] == "default-scheduler"
    sim.apply(ApplyObjects((node("n0"), pod("p0", schedulerName="packing"))))
    sim.step(Grain.POD)
    assert shown("transport", sim)["context"]["profile"] == "packing"


def test_what_follows_the_first_plugin_of_reserve_is_the_next_one() -> None:
    def coming(sim: Simulation) -> str:
        return str((context(sim)["next"] or {}).get("text", ""))

    sim = until(three_nodes(), lambda sim: coming(sim).startswith("Reserve: %(pod)s is assumed"))
    sim.step(Grain.CALL)
    assert said(sim).startswith("Reserve · ")
    assert coming(sim).startswith("Reserve: the next plugin ")


def test_a_plugin_claims_no_work_for_a_pod_without_claims() -> None:
    sim, told = three_nodes(), set()
    while sim.position < 150 and sim.step(Grain.CALL):
        told.add(said(sim))
    assert "Reserve · VolumeBinding: VolumeBinding has nothing to reserve for web-1." in told
    assert not any("reserves resources" in one or "prepares the binding" in one for one in told)


def test_calls_and_nodes_that_count_are_both_named_where_parallel_calls_go_further() -> None:
    sim = until(many_nodes(300), ran("Filter", "NodeResourcesFit"))
    step = sim.schedulers[0].cycle.steps[-1]
    search = sim.schedulers[0].cycle.search
    if search.seen < step.evaluated:
        assert f"in {step.refused} of {step.evaluated} calls" in said(sim)
        assert f"the first {search.seen} nodes count" in said(sim)
    told = strip_tags(translated(of_step(step, "web-1", seen=100)))
    assert (
        f"refuses a node for web-1 in {step.refused} of {step.evaluated} calls. Only the first 100 nodes count" in told
    )
