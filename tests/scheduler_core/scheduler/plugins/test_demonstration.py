import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import CallResult, PermitResult
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Code, Status, unschedulable
from scheduler_core.scheduler.plugins.demonstration import NOTE_STATE
from scheduler_core.testing.builders import make_pod
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, of_kind, pod, settle
from tests.support.drive import NoObjects, make_plugin

SECOND = 10**9


def told(annotation: str, value: str) -> Pod:
    return make_pod("p").annotations({f"playground.dev/{annotation}": value}).pod()


def test_a_pod_without_annotations_is_left_alone() -> None:
    plugin, pod, state = make_plugin("Demonstration"), make_pod("p").pod(), CycleState()
    plugin.post_bind(state, pod, "a")
    assert plugin.pre_enqueue(pod) == SUCCESS
    assert plugin.reserve(state, pod, "a") == SUCCESS
    assert plugin.permit(state, pod, "a") == PermitResult()
    assert plugin.pre_bind(state, pod, "a") == CallResult()
    assert plugin.bind(state, pod, "a") == CallResult(SKIP)
    assert state.values == {}


def test_permit_waits_as_long_as_it_is_told() -> None:
    result = make_plugin("Demonstration").permit(CycleState(), told("permit", "wait:1500ms"), "a")
    assert result == PermitResult(Status(Code.WAIT), 1500 * 10**6)


def test_permit_rejects() -> None:
    result = make_plugin("Demonstration").permit(CycleState(), told("permit", "reject"), "a")
    assert result.status == unschedulable("the pod asks to be rejected: playground.dev/permit=reject")


def test_pre_enqueue_rejects() -> None:
    assert make_plugin("Demonstration").pre_enqueue(told("pre-enqueue", "reject")).rejected


def test_reserve_fails() -> None:
    assert make_plugin("Demonstration").reserve(CycleState(), told("reserve", "fail"), "a").code is Code.ERROR


def test_pre_bind_takes_its_time() -> None:
    result = make_plugin("Demonstration").pre_bind(CycleState(), told("pre-bind", "delay:2m"), "a")
    assert result == CallResult(SUCCESS, 120 * SECOND)


def test_bind_after_a_delay_binds_by_itself() -> None:
    handle = NoObjects()
    result = make_plugin("Demonstration", handle=handle).bind(CycleState(), told("bind", "delay:5s"), "a")
    assert result == CallResult(SUCCESS, 5 * SECOND)
    assert handle.bound == [("default/p", "a")]


def test_a_failing_bind_binds_nothing() -> None:
    handle = NoObjects()
    result = make_plugin("Demonstration", handle=handle).bind(CycleState(), told("bind", "fail"), "a")
    assert result.status.code is Code.ERROR
    assert handle.bound == []


def test_a_note_is_kept_at_post_bind() -> None:
    state = CycleState()
    make_plugin("Demonstration").post_bind(state, told("note", "hello"), "a")
    assert state.read(NOTE_STATE) == "hello"


@pytest.mark.parametrize("value", ["", "wait", "wait:", "wait:5", "wait:-5s", "wait:١s", "perhaps", "allow:5s"])
def test_an_annotation_that_is_not_understood_says_what_is_expected(value: str) -> None:
    status = make_plugin("Demonstration").permit(CycleState(), told("permit", value), "a").status
    assert status.code is Code.ERROR
    assert status.message == (
        f'playground.dev/permit: "{value}" is not understood; expected one of allow, reject, fail, wait:5s'
    )


def test_a_note_stands_in_the_record_of_post_bind() -> None:
    sim = Simulation()
    sim.apply(SetSettings({"demonstration": True}))
    sim.apply(ApplyObjects((node("a"), pod("web", annotations={"playground.dev/note": "hello"}))))
    steps = of_kind(settle(sim), "plugin_ran")
    statuses = [step["status"] for step in steps if step["point"] == "PostBind"]
    assert statuses == [{"code": "Success", "plugin": "Demonstration", "reasons": ["hello"]}]
