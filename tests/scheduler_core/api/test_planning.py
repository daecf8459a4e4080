"""What an import would do where the cluster is modelled."""

from __future__ import annotations

from typing import Any

from scheduler_core.objects.loading import LoadLimits, load_manifests
from scheduler_core.simulation import Plan, plan_requests
from scheduler_core.testing.storage import make_claim, make_volume
from tests.scheduler_core.clusters import cluster, make, wait
from tests.scheduler_core.worlds import node, pod


def planned(*manifests: Any, there: Any = ()) -> Plan:
    sim = cluster(*there, controllers=[])
    before = sim.store.resource_version
    result = plan_requests(sim.api, list(manifests))
    assert sim.store.resource_version == before
    return result


def test_each_object_is_told_apart_in_the_order_of_the_text() -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}}
    result = planned(
        pod("p", nodeName="gone"), node("n", cpu="8"), node("m"), event, there=[node("n"), node("m")]
    )
    assert [item.action for item in result.items] == ["created", "changed", "unchanged", "ignored"]
    assert result.items[1].changed == ("status.capacity.cpu", "status.allocatable.cpu")
    assert result.warnings == ('node "gone" is not in the cluster: 1 pod is bound to it',)


def test_what_others_refer_to_may_stand_behind_them() -> None:
    far = pod("p")
    far["metadata"]["namespace"] = "far"
    assert planned(far, make("Namespace", "far", "")).counts["created"] == 2
    assert planned(far).counts["refused"] == 1


def test_workloads_make_their_pods_themselves() -> None:
    spec = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod("p")["spec"]},
    }
    result = planned(
        make("Deployment", "d", spec=spec), {**make("DaemonSet", "s", spec=spec), "apiVersion": "apps/v1"}
    )
    assert [(item.kind, item.action) for item in result.items] == [
        ("Deployment", "created"),
        ("DaemonSet", "created"),
    ]


def test_a_refusal_names_the_line_and_a_name_given_twice_is_one() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    first, second = planned(*load_manifests(text, LoadLimits())).items
    assert (first.action, second.action) == ("created", "refused")
    assert second.errors[0].line == 7


def test_what_is_no_object_is_refused() -> None:
    assert [item.action for item in planned("text", {"kind": "Podd"}, {}).items] == ["refused"] * 3


def test_what_is_there_already_is_unchanged_whatever_its_controllers_wrote_of_it() -> None:
    claim = make_claim("c", "")
    sim = cluster(make_volume("v", ""), claim)
    wait(sim, 1)
    bound = sim.store.get("PersistentVolumeClaim", "default", "c")
    assert bound is not None and bound["status"]["phase"] == "Bound"
    del claim["status"]
    assert [item.action for item in plan_requests(sim.api, [claim]).items] == ["unchanged"]
