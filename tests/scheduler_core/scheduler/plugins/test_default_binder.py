from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import error
from scheduler_core.testing.builders import make_pod
from tests.support.drive import NoObjects, make_plugin


def test_the_pod_is_bound_through_the_handle() -> None:
    handle = NoObjects()
    result = make_plugin("DefaultBinder", handle=handle).bind(CycleState(), make_pod("p").pod(), "a")
    assert result.status.ok
    assert handle.bound == [("default/p", "a")]


def test_what_the_api_server_answers_is_the_answer() -> None:
    handle = NoObjects(error("conflict"))
    result = make_plugin("DefaultBinder", handle=handle).bind(CycleState(), make_pod("p").pod(), "a")
    assert result.status == error("conflict")
