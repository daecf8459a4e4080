import pytest

from scheduler_core.apiserver.kube_events import NORMAL, KubeEvent
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.watch import ADDED, DELETED, MODIFIED

SECOND = 10**9


def manifest(kind="Pod", name="p", spec=None, **metadata):
    meta = {"name": name, **metadata}
    if kind == "Pod":
        meta = {"namespace": "default", **meta}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": spec or {}}


@pytest.fixture
def store():
    made = Store()
    made.create(manifest(), "Pod", 0)
    return made


def bound(store, node="n1", phase="Running"):
    store.bind("default/p", "", node, 0)
    store.patch_pod_status("default/p", 0, fields={"phase": phase})


def test_a_created_object_gets_uid_age_generation_and_version(store):
    meta = store.get("Pod", "default", "p")["metadata"]
    assert meta["uid"] == "default-p-1"
    assert (meta["creationTimestamp"], meta["generation"]) == ("2026-01-01T00:00:00Z", 1)
    assert meta["resourceVersion"] == "1"


def test_an_imported_uid_and_age_are_kept(store):
    store.create(manifest(name="q", uid="u", creationTimestamp="2020-01-01T00:00:00Z"), "Pod", 0)
    assert store.pod("default", "q").uid == "u"
    assert store.get("Pod", "default", "q")["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"


def test_a_uid_that_is_taken_is_replaced_by_a_new_one(store):
    store.create(manifest(name="q", uid="default-p-1"), "Pod", 0)
    assert store.pod("default", "q").uid == "default-q-2"


def test_a_name_that_is_taken_is_refused_in_kubes_words(store):
    with pytest.raises(Refused, match='pods "p" already exists'):
        store.create(manifest(), "Pod", 0)
    assert store.resource_version == 1


def test_what_was_given_is_not_changed(store):
    given = manifest(name="q")
    store.create(given, "Pod", 0)
    assert given == manifest(name="q")


def test_objects_are_listed_by_namespace_and_name(store):
    for namespace, name in (("b", "x"), ("a", "z"), ("a", "b")):
        store.create(manifest(name=name, namespace=namespace), "Pod", 0)
    assert [pod.key for pod in store.pods()] == ["a/b", "a/z", "b/x", "default/p"]
    assert [found["metadata"]["name"] for found in store.list("Pod")] == ["b", "z", "x", "p"]


def test_every_write_is_told_to_subscribers_in_their_order(store):
    heard = []
    store.subscribe(lambda event: heard.append(("first", event.type, event.name)))
    store.subscribe(lambda event: heard.append(("second", event.type, event.name)))
    store.create(manifest("Node", "n1"), "Node", 0)
    store.remove("Node", "", "n1")
    expected = [(who, what, "n1") for what in (ADDED, DELETED) for who in ("first", "second")]
    assert heard == expected


def test_events_of_pods_carry_them_parsed_before_and_after(store):
    heard = []
    store.subscribe(heard.append)
    store.bind("default/p", "default-p-1", "n1", 0)
    (event,) = heard
    assert (event.type, event.old_pod.node_name, event.new_pod.node_name) == (MODIFIED, "", "n1")
    assert event.new_pod is store.pod("default", "p")


def test_replacing_keeps_uid_and_age_and_counts_generations_of_the_spec(store):
    event = store.replace(manifest(spec={"priority": 3}, uid="other"), "Pod")
    meta = event.new["metadata"]
    assert (meta["uid"], meta["generation"], meta["resourceVersion"]) == ("default-p-1", 2, "2")


def test_replacing_by_the_same_writes_nothing(store):
    assert store.replace(store.get("Pod", "default", "p"), "Pod") is None
    assert store.resource_version == 1


def test_a_copy_lives_on_its_own(store):
    heard = []
    store.subscribe(heard.append)
    twin = store.copy()
    twin.bind("default/p", "", "n1", 0)
    twin.create(manifest(name="q"), "Pod", 0)
    twin.record(KubeEvent(0, NORMAL, "Scheduled", "Pod", "default", "p", "text", "me"))
    assert heard == []
    assert store.pod("default", "p").node_name == ""
    assert (store.count("Pod"), twin.count("Pod"), store.events) == (1, 2, [])


def test_binding_sets_node_and_condition(store):
    assert store.bind("default/p", "default-p-1", "n1", 2 * SECOND).ok
    pod = store.pod("default", "p")
    assert pod.node_name == "n1"
    assert pod.condition("PodScheduled")["status"] == "True"
    assert pod.condition("PodScheduled")["lastTransitionTime"] == "2026-01-01T00:00:02Z"


def test_binding_a_pod_that_is_gone_is_not_found(store):
    answer = store.bind("default/q", "u", "n1", 0)
    assert (answer.reason, answer.message) == ("NotFound", 'pods "q" not found')


def test_binding_twice_is_a_conflict(store):
    store.bind("default/p", "", "n1", 0)
    answer = store.bind("default/p", "", "n2", 0)
    assert answer.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    )
    assert store.pod("default", "p").node_name == "n1"


def test_binding_another_pod_of_the_name_is_a_conflict(store):
    answer = store.bind("default/p", "old", "n1", 0)
    assert answer.reason == "Conflict"
    assert "Precondition failed: UID in precondition: old, UID in object meta: default-p-1" in answer.message


def test_a_gated_pod_cannot_be_bound(store):
    store.create(manifest(name="g", spec={"schedulingGates": [{"name": "x"}]}), "Pod", 0)
    assert "pod g has non-empty .spec.schedulingGates" in store.bind("default/g", "", "n1", 0).message


def test_a_condition_keeps_its_time_while_its_status_stays(store):
    def refuse(message, now):
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        store.patch_pod_status("default/p", now, condition=condition)
        return store.pod("default", "p").condition("PodScheduled")

    assert refuse("first", SECOND)["lastTransitionTime"] == "2026-01-01T00:00:01Z"
    second = refuse("second", 5 * SECOND)
    assert (second["message"], second["lastTransitionTime"]) == ("second", "2026-01-01T00:00:01Z")


def test_a_status_that_says_so_already_is_not_written(store):
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}
    store.patch_pod_status("default/p", 0, condition=condition, nominated_node_name="n1")
    version = store.resource_version
    store.patch_pod_status("default/p", SECOND, condition=condition, nominated_node_name="n1")
    assert store.resource_version == version


def test_a_nomination_is_set_and_cleared(store):
    store.patch_pod_status("default/p", 0, nominated_node_name="n1")
    assert store.pod("default", "p").nominated_node_name == "n1"
    store.patch_pod_status("default/p", 0, nominated_node_name="")
    assert "nominatedNodeName" not in store.pod("default", "p").manifest["status"]


def test_a_pod_that_ends_cannot_be_bound(store):
    store.create(manifest(name="q", deletionTimestamp="2026-01-01T00:00:31Z"), "Pod", 0)
    answer = store.bind("default/q", "", "n1", 0)
    assert "pod q is being deleted, cannot be assigned to a host" in answer.message
