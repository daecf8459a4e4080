import pytest

from scheduler_core.api.requests.apply import apply_objects, delete_objects, patch_object
from scheduler_core.api.status import Refused
from scheduler_core.api.store import Store
from scheduler_core.api.watch import ADDED, DELETED, MODIFIED


def pod(name="p", spec=None, status=None, container=None, **metadata):
    full = {"containers": [{"name": "c", "image": "nginx", **(container or {})}], **(spec or {})}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": full}
    return {**made, "status": status} if status else made


def node(name="n1", cpu="4"):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": {"cpu": cpu}},
    }


def priority_class(name="high", value=7):
    meta = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}


@pytest.fixture
def store():
    made = Store()
    apply_objects(made, [node(), pod()], 0)
    return made


def told(events):
    return [(event.type, event.kind, event.name) for event in events]


def test_what_others_refer_to_is_written_first():
    events = apply_objects(Store(), [pod(spec={"priorityClassName": "high"}), node(), priority_class()], 0)
    assert told(events) == [(ADDED, "PriorityClass", "high"), (ADDED, "Node", "n1"), (ADDED, "Pod", "p")]
    assert events[-1].new_pod.priority == 7


def test_applying_the_same_again_changes_nothing(store):
    version = store.resource_version
    assert apply_objects(store, [node(), pod()], 0) == []
    assert store.resource_version == version


def test_one_bad_object_keeps_all_from_being_written(store):
    bad = pod("bad", {"tolerations": [{"operator": "Like", "key": "a"}]})
    with pytest.raises(Refused) as caught:
        apply_objects(store, [pod("good"), bad, pod("worse", {"containers": []})], 0)
    assert [error.object for error in caught.value.errors] == ["Pod default/bad", "Pod default/worse"]
    assert store.pod("default", "good") is None


def test_a_name_twice_in_one_request_is_refused(store):
    with pytest.raises(Refused, match=r'metadata\.name: Duplicate value: "q"'):
        apply_objects(store, [pod("q"), pod("q", namespace="default")], 0)
    assert store.pod("default", "q") is None


def test_the_same_name_in_two_namespaces_is_fine(store):
    assert len(apply_objects(store, [pod("q", namespace="a"), pod("q", namespace="b")], 0)) == 2


def test_a_bound_pod_that_is_pasted_again_stays_where_it_is(store):
    store.bind("default/p", "", "n1", 0)
    assert apply_objects(store, [pod()], 0) == []
    assert store.pod("default", "p").node_name == "n1"


def test_labels_change_in_place(store):
    (event,) = apply_objects(store, [pod(labels={"a": "b"})], 0)
    assert (event.type, event.new_pod.labels, event.new_pod.uid) == (MODIFIED, {"a": "b"}, event.old_pod.uid)


def test_a_resize_of_cpu_happens_in_place(store):
    apply_objects(store, [pod("q", container={"resources": {"requests": {"cpu": "1"}}})], 0)
    (event,) = apply_objects(store, [pod("q", container={"resources": {"requests": {"cpu": "2"}}})], 0)
    assert (event.type, event.new_pod.requests.milli_cpu) == (MODIFIED, 2000)


def test_a_gate_can_be_lifted_in_place():
    store = Store()
    apply_objects(store, [pod(spec={"schedulingGates": [{"name": "x"}]})], 0)
    (event,) = apply_objects(store, [pod()], 0)
    assert (event.type, event.new_pod.spec.scheduling_gates) == (MODIFIED, ())


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"zone": "a"}},
        {"schedulingGates": [{"name": "x"}]},
        {"priority": 4},
        {"hostNetwork": True},
    ],
)
def test_what_a_pod_cannot_change_makes_it_anew(store, spec):
    events = apply_objects(store, [pod(spec=spec)], 0)
    assert [event.type for event in events] == [DELETED, ADDED]
    assert events[0].old_pod.uid != events[1].new_pod.uid


def test_a_pods_later_dump_binds_it(store):
    (event,) = apply_objects(store, [pod(spec={"nodeName": "n1"}, status={"phase": "Running"})], 0)
    assert (event.type, event.new_pod.node_name, event.new_pod.phase) == (MODIFIED, "n1", "Running")


def test_a_node_changes_its_capacity(store):
    given = node(cpu="8")
    given["status"]["allocatable"] = {"cpu": "8"}
    (event,) = apply_objects(store, [given], 0)
    assert event.new_node.allocatable.milli_cpu == 8000


def test_a_patch_merges_and_null_takes_away(store):
    patch_object(store, ("Pod", "default", "p"), {"metadata": {"labels": {"a": "1", "b": "2"}}}, 0)
    patch_object(store, ("Pod", "default", "p"), {"metadata": {"labels": {"a": None}}}, 0)
    assert store.pod("default", "p").labels == {"b": "2"}


def test_a_patch_cannot_rename(store):
    patch_object(store, ("Pod", "default", "p"), {"metadata": {"name": "q", "namespace": "other"}}, 0)
    assert [found.key for found in store.pods()] == ["default/p"]


def test_a_patch_that_breaks_a_rule_changes_nothing(store):
    with pytest.raises(Refused, match=r"spec\.taints\[0\]\.effect: Required value"):
        patch_object(store, ("Node", "", "n1"), {"spec": {"taints": [{"key": "a"}]}}, 0)
    assert store.node("n1").taints == ()


@pytest.mark.parametrize(
    "patch", [{"metadata": None}, {"metadata": 3}, {"spec": None}, {"kind": "Node"}, {"kind": None}]
)
def test_a_patch_of_any_shape_is_carried_out_or_refused(store, patch):
    with pytest.raises(Refused):
        patch_object(store, ("Pod", "default", "p"), patch, 0)
    assert [found.key for found in store.pods()] == ["default/p"]


def test_patching_what_is_not_there_is_refused(store):
    with pytest.raises(Refused, match='nodes "n9" not found'):
        patch_object(store, ("Node", "", "n9"), {}, 0)


def test_deleting_what_is_not_there_keeps_all_the_rest(store):
    with pytest.raises(Refused) as caught:
        delete_objects(store, [("Pod", "default", "p"), ("Node", "", "n9"), ("Foo", "", "x")], 0)
    assert [str(error) for error in caught.value.errors] == ['nodes "n9" not found', 'foo "x" not found']
    assert store.pod("default", "p") is not None


def test_deleting_a_node_leaves_its_pods_where_they_are(store):
    store.bind("default/p", "", "n1", 0)
    assert told(delete_objects(store, [("Node", "", "n1")], 0)) == [(DELETED, "Node", "n1")]
    assert store.pod("default", "p").node_name == "n1"


def test_deleting_an_owner_takes_along_what_it_owns(store):
    owner = {
        "apiVersion": "example.com/v1",
        "kind": "Set",
        "metadata": {"name": "s", "uid": "u", "namespace": "default"},
    }
    owned = pod("q", ownerReferences=[{"apiVersion": "v1", "kind": "Set", "name": "s", "uid": "u"}])
    apply_objects(store, [owner, owned], 0)
    events = delete_objects(store, [("Set.example.com", "default", "s")], 0)
    assert [event.name for event in events] == ["s", "q"]


def test_deleting_a_namespace_takes_along_all_that_is_in_it(store):
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    apply_objects(store, [namespace, pod("q", namespace="team")], 0)
    delete_objects(store, [("Namespace", "", "team")], 0)
    assert [found.key for found in store.pods()] == ["default/p"]


def test_unknown_fields_of_an_imported_object_survive_the_round_trip(store):
    given = {**pod("q", {"future": [{"a": None}]}, annotations={"x/y": "z"}), "later": {"b": 1}}
    apply_objects(store, [given], 0)
    kept = store.get("Pod", "default", "q")
    assert kept["spec"]["future"] == [{"a": None}]
    assert (kept["later"], kept["metadata"]["annotations"]) == ({"b": 1}, {"x/y": "z"})
