import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api.requests.apply import apply_objects
from scheduler_core.api.requests.plan import plan
from scheduler_core.api.store import Store
from scheduler_core.objects.loading import load_manifests


def pod(name="p", namespace="default", **spec):
    full = {"containers": [{"name": "c", "image": "nginx"}], **spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": full,
    }


def deployment(name="web", replicas=3):
    template = {"metadata": {"labels": {"app": name}}, "spec": pod()["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def store():
    made = Store()
    apply_objects(made, [pod()], 0)
    return made


def actions(made):
    return [(item.action, item.name) for item in made.items]


def test_a_plan_says_what_would_become_of_each_object(store):
    changed = {**pod(), "metadata": {"name": "p", "namespace": "default", "labels": {"a": "b"}}}
    assert actions(plan(store, [pod("new"), pod(), pod("bad", containers=[])])) == [
        ("created", "new"),
        ("unchanged", "p"),
        ("refused", "bad"),
    ]
    (item,) = plan(store, [changed]).items
    assert (item.action, item.changed) == ("changed", ("metadata.labels",))


def test_a_plan_changes_nothing(store):
    version = store.resource_version
    plan(store, [pod("new"), deployment()])
    assert (store.resource_version, store.count("Pod")) == (version, 1)


def test_what_is_accepted_can_be_applied(store):
    made = plan(store, [pod("new"), pod("bad", containers=[]), pod(), deployment()])
    apply_objects(store, made.accepted, 0)
    assert store.count("Pod") == 5
    assert plan(store, [pod("new"), deployment()]).accepted == []


@pytest.mark.parametrize(
    ("kind", "version"),
    [("CronJob", "batch/v1"), ("DaemonSet", "apps/v1"), ("Event", "v1"), ("Event", "events.k8s.io/v1")],
)
def test_what_this_cluster_does_not_run_is_ignored_with_a_reason(store, kind, version):
    (item,) = plan(store, [{"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}]).items
    assert item.action == "ignored"
    assert item.reason


def test_a_pod_of_a_node_that_is_not_there_is_accepted_with_a_warning(store):
    made = plan(store, [pod("a", nodeName="n9"), pod("b", nodeName="n9")])
    assert made.counts["created"] == 2
    assert made.warnings == ('node "n9" is not in the cluster: 2 pods are bound to it',)


def test_a_pod_of_a_node_of_the_same_import_needs_no_warning(store):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    assert plan(store, [pod("a", nodeName="n1"), node]).warnings == ()


def test_ended_pods_are_kept_with_a_note(store):
    made = plan(store, [{**pod("a"), "status": {"phase": "Succeeded"}}])
    assert made.counts["created"] == 1
    assert "left alone by the scheduler" in made.warnings[0]


def test_a_deployment_becomes_a_replica_set_and_pods_once(store):
    made = plan(store, [deployment()])
    assert [item.kind for item in made.items] == ["Deployment", "ReplicaSet", "Pod", "Pod", "Pod"]
    assert made.items[2].made_from == "Deployment web"
    assert made.warnings == (
        "no controller looks after Deployments here: web is kept and its 3 pods were made once",
    )


def test_a_workload_whose_pods_are_there_gets_no_others(store):
    own = pod("web-1")
    own["metadata"]["labels"] = {"app": "web"}
    assert actions(plan(store, [deployment(), own])) == [("created", "web"), ("created", "web-1")]


def test_a_broken_workload_is_refused_without_pods(store):
    broken = deployment()
    broken["spec"]["template"]["spec"] = {"containers": []}
    assert actions(plan(store, [broken])) == [("refused", "web")]


def test_a_workload_of_too_many_pods_is_kept_without_them(store):
    made = plan(store, [deployment(replicas=10_001)])
    assert actions(made) == [("created", "web")]
    assert "asks for 10001 pods" in made.warnings[0]


def test_a_pod_that_must_be_made_anew_says_so(store):
    (item,) = plan(store, [pod(nodeSelector={"a": "b"})]).items
    assert "deleted and made anew" in item.note


def test_errors_stand_at_their_line_of_the_text(store):
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: [1]\n"
    )
    (item,) = plan(store, load_manifests(text)).items
    (error,) = item.errors
    assert (error.path, error.line, error.object) == ("spec.containers[0].image", 8, "Pod default/p")


def test_a_plan_is_json(store):
    assert (
        json.loads(json.dumps(plan(store, [pod("a"), 3, {}, deployment()]).to_json()))["counts"]["refused"]
        == 2
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "spec", "labels", "containers", "replicas", "template", "key"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    [
        ("v1", "Pod"),
        ("v1", "Node"),
        ("apps/v1", "Deployment"),
        ("batch/v1", "Job"),
        ("scheduling.k8s.io/v1", "PriorityClass"),
    ]
)


@given(KINDS, JSON, JSON, JSON)
def test_any_shape_is_accepted_or_refused_and_never_breaks(kind, metadata, spec, status):
    version, name = kind
    manifest = {"apiVersion": version, "kind": name, "metadata": metadata, "spec": spec, "status": status}
    made = plan(Store(), [manifest])
    assert sum(made.counts.values()) == len(made.items) >= 1
    apply_objects(Store(), made.accepted, 0)


@given(JSON)
def test_any_json_is_accepted_or_refused_and_never_breaks(value):
    assert plan(Store(), [value]).accepted == []


def test_of_very_many_errors_of_one_object_the_first_are_told(store):
    (item,) = plan(store, [pod("bad", tolerations=[{}] * 150)]).items
    assert len(item.errors) == 101
    assert str(item.errors[-1]) == "50 more errors are not shown"
