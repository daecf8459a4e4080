import pytest

from scheduler_core.api.store import Store
from scheduler_core.config.settings import WorldSettings
from scheduler_core.controllers.minimal.kubelet import Kubelet, RunPod

SECOND = 10**9
KUBELET = Kubelet()
SETTINGS = WorldSettings(pod_start_latency=SECOND)


def pod(name="p", phase="Pending", **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c"}], **spec},
        "status": {"phase": phase},
    }


@pytest.fixture
def world():
    """A store and the timers its changes ask for."""
    store, timers = Store(), []
    store.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "n"}}, "Node", 0)
    store.subscribe(lambda event: timers.extend(KUBELET.on_watch(store, event, 5 * SECOND, SETTINGS)))
    return store, timers


def test_a_bound_pod_runs_after_the_latency(world):
    store, timers = world
    store.create(pod(), "Pod", 0)
    assert timers == []
    store.bind("default/p", "", "n1", 5 * SECOND)
    (timer,) = timers
    assert (timer.at, timer.action) == (6 * SECOND, RunPod("default/p", "default-p-2"))
    timer.action.run(store, timer.at)
    found = store.pod("default", "p")
    assert (found.phase, found.condition("Ready")["status"]) == ("Running", "True")
    assert found.condition("PodScheduled")["status"] == "True"
    assert found.start_time == store.epoch + 6 * SECOND


def test_running_asks_for_no_other_timer(world):
    store, timers = world
    store.create(pod(nodeName="n1"), "Pod", 0)
    timers[0].action.run(store, 6 * SECOND)
    assert len(timers) == 1


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_an_imported_pod_that_ran_already_is_left_alone(world, phase):
    store, timers = world
    store.create(pod(phase=phase, nodeName="n1"), "Pod", 0)
    assert timers == []


def test_a_deleted_pod_ends_after_its_grace(world):
    store, timers = world
    store.create(pod(phase="Running", nodeName="n1"), "Pod", 0)
    store.delete("Pod", "default", "p", 5 * SECOND, grace=10)
    (timer,) = timers
    assert timer.at == 15 * SECOND
    timer.action.run(store, timer.at)
    assert store.pod("default", "p") is None


def test_a_hastened_deletion_ends_the_pod_sooner(world):
    store, timers = world
    store.create(pod(phase="Running", nodeName="n1"), "Pod", 0)
    store.delete("Pod", "default", "p", 5 * SECOND, grace=10)
    store.delete("Pod", "default", "p", 5 * SECOND, grace=2)
    assert [timer.at for timer in timers] == [15 * SECOND, 7 * SECOND]


def test_a_pod_that_is_deleted_before_it_runs_never_runs(world):
    store, timers = world
    store.create(pod(nodeName="n1"), "Pod", 0)
    store.delete("Pod", "default", "p", 5 * SECOND)
    run, end = timers
    assert not run.action.stands(store)
    assert end.action.stands(store)
    run.action.run(store, run.at)
    assert store.pod("default", "p").phase == "Pending"


def test_a_timer_of_a_pod_that_was_made_anew_no_longer_stands(world):
    store, timers = world
    store.create(pod(nodeName="n1"), "Pod", 0)
    store.remove("Pod", "default", "p")
    store.create(pod(), "Pod", 0)
    assert not timers[0].action.stands(store)
    timers[0].action.run(store, timers[0].at)
    assert store.pod("default", "p").phase == "Pending"


def test_starting_a_container_is_an_event_of_the_pod(world):
    store, timers = world
    store.create(pod(nodeName="n1"), "Pod", 0)
    timers[0].action.run(store, 6 * SECOND)
    (event,) = store.events
    assert (event.reason, event.name, event.message) == ("Started", "p", "Started container c")


def test_a_pod_without_its_node_never_starts_but_ends(world):
    store, timers = world
    store.create(pod(nodeName="n9"), "Pod", 0)
    assert not timers[0].action.stands(store)
    store.delete("Pod", "default", "p", 5 * SECOND)
    timers[1].action.run(store, timers[1].at)
    assert store.pod("default", "p") is None
