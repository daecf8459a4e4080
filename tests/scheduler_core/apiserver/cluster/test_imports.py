"""Imports into a cluster: all or none, and the plan that is shown before."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.loading import load_manifests
from scheduler_core.apiserver.imports.items import Plan
from scheduler_core.apiserver.imports.plan import plan_import
from scheduler_core.apiserver.imports.trial import apply
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, priority_class


def contents(store: Store) -> list[Any]:
    return [store.list(kind) for kind in store.kinds()]


def shown(plan: Plan) -> list[tuple[str, str]]:
    return [(item.action, item.name) for item in plan.items]


def deployment() -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "app"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    return make("Deployment", "d", "default", "apps/v1", spec=spec)


def test_what_others_refer_to_comes_first() -> None:
    api = api_server()
    apply(api, [pod(namespace="n", priorityClassName="c"), priority_class("c", 5), make("Namespace", "n")])
    assert api.found(("Pod", "n", "p"))["spec"]["priority"] == 5


def test_nothing_is_done_where_something_is_refused_and_all_errors_are_told() -> None:
    api = api_server()
    before = contents(api.store)
    with pytest.raises(Refused) as refused:
        apply(api, [pod("a"), pod("b", namespace="nowhere"), pod("c", priorityClassName="nope")])
    assert [error.object for error in refused.value.errors] == ["Pod nowhere/b", "Pod default/c"]
    assert contents(api.store) == before


def test_subscribers_hear_of_each_object_in_turn_and_the_numbers_go_on() -> None:
    api, heard = api_server(), []
    api.store.subscribe(lambda event: heard.append((event.type, event.kind, event.name)))
    apply(api, [pod("a"), pod("b"), make("Node", "n")])
    assert heard == [("ADDED", "Node", "n"), ("ADDED", "Pod", "a"), ("ADDED", "Pod", "b")]
    newest = api.create(pod("c"))["metadata"]
    assert (newest["resourceVersion"], newest["uid"]) == ("10", "default-c-10")


def _alone(api: APIServer, manifest: dict[str, Any]) -> Any:
    """The pod as it is stored when it is imported alone."""
    apply(api, [manifest])
    return api.found(("Pod", manifest["metadata"]["namespace"], manifest["metadata"]["name"]))


def test_pods_that_ask_for_the_same_are_stored_as_if_each_were_alone() -> None:
    limits = make(
        "LimitRange", "l", "default", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    )
    listed = [pod("a"), pod("b", nodeName="n"), pod("c"), {**pod("d"), "status": {"phase": "Running"}}]
    listed[2]["metadata"]["annotations"] = {"x": "y"}
    together, apart = api_server(limits), api_server(limits)
    apply(together, listed)
    for manifest in listed:
        assert together.found(("Pod", "default", manifest["metadata"]["name"])) == _alone(apart, manifest)


def test_a_wrong_label_of_the_second_pod_of_a_spec_is_found() -> None:
    second = pod("b")
    second["metadata"]["labels"] = {"a": "not a label value!"}
    with pytest.raises(Refused, match="not a label value!"):
        apply(api_server(), [pod("a"), second])


def test_an_import_that_is_repeated_changes_nothing() -> None:
    api = api_server(deployment())
    claim_spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    listed = [pod(), make("PersistentVolumeClaim", "c", "default", spec=claim_spec), deployment()]
    apply(api, listed)
    before = contents(api.store)
    assert shown(plan_import(api, listed)) == [("unchanged", "p"), ("unchanged", "c"), ("unchanged", "d")]
    apply(api, listed)
    assert contents(api.store) == before


def test_a_plan_says_what_is_created_changed_ignored_and_refused() -> None:
    api = api_server(pod(), deployment())
    changed = deployment()
    changed["spec"]["replicas"] = 3
    event = make("Event", "e", "default")
    bad = pod("bad", nodeselector={})
    plan = plan_import(api, [changed, pod("new"), event, bad, pod(schedulerName="other")])
    assert shown(plan) == [("changed", "d"), ("created", "new"), ("ignored", "e"), ("refused", "bad"), ("refused", "p")]
    assert plan.items[0].changed == ("spec.replicas",)
    assert plan.accepted == [changed, pod("new")]
    assert api.store.get("Pod", "default", "new") is None


def test_errors_of_a_text_say_their_lines() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: a\n    resource: {}\n"
    (item,) = plan_import(api_server(), load_manifests(text)).items
    assert [(error.line, error.expected) for error in item.errors] == [(8, '(did you mean "resources"?)')]


def test_an_object_that_comes_back_edited_is_as_it_was_written() -> None:
    labelled = deployment()
    labelled["metadata"]["labels"] = {"a": "b", "c": "d"}
    api = api_server(labelled)
    stored = api.found(("Deployment", "default", "d"))
    edited = {**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}, "resourceVersion": "1"}}
    apply(api, [edited])
    assert api.found(("Deployment", "default", "d"))["metadata"]["labels"] == {"a": "b"}


def test_an_object_that_is_given_again_keeps_what_is_left_out() -> None:
    labelled = deployment()
    labelled["metadata"]["labels"] = {"c": "d"}
    api = api_server(labelled)
    apply(api, [deployment()])
    assert api.found(("Deployment", "default", "d"))["metadata"]["labels"] == {"c": "d"}


def test_what_comes_with_a_uid_was_admitted_where_it_comes_from() -> None:
    limits = make("LimitRange", "l", "default", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]})
    api = api_server(limits)
    dumped = pod("d", priority=7, priorityClassName="of-another-cluster", resources={"limits": {"cpu": "2"}})
    dumped["metadata"]["uid"] = "u"
    apply(api, [dumped])
    assert api.found(("Pod", "default", "d"))["spec"]["priority"] == 7


def test_a_plan_says_where_to_get_what_is_missing() -> None:
    plan = plan_import(api_server(), [pod("a", namespace="x"), pod("b", namespace="x"), pod(priorityClassName="c")])
    assert [text.partition(";")[0] for text in plan.warnings] == [
        'not in the cluster, and not in this import: namespaces "x"',
        'not in the cluster, and not in this import: priorityclasses "c"',
    ]


def test_a_revision_whose_data_is_a_patch_can_be_imported_again() -> None:
    data = {"spec": {"template": {"$patch": "replace", "spec": {}}}}
    revision = make("ControllerRevision", "r", "default", "apps/v1", data=data, revision=1)
    assert shown(plan_import(api_server(revision), [revision])) == [("unchanged", "r")]


def test_an_object_that_is_given_twice_is_refused() -> None:
    plan = plan_import(api_server(), [pod(), pod()])
    assert shown(plan) == [("created", "p"), ("refused", "p")]


@pytest.mark.parametrize(
    "nonsense", [5, "x", [], {}, {"kind": "Pod"}, {"apiVersion": "v1", "kind": "Pod", "metadata": 3}]
)
def test_nonsense_is_refused(nonsense: Any) -> None:
    (item,) = plan_import(api_server(), [nonsense]).items
    assert item.action == "refused"
    assert item.errors
