"""Fields that newer releases brought: refused before, known from then on, and dropped while their gate is off."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from scheduler_core import apiserver
from scheduler_core.apiserver.door import Call, answer_read
from scheduler_core.apiserver.kinds import KEPT, VERSIONS
from scheduler_core.base.releases import API_RULES, NEWEST, pick
from scheduler_core.formats.unsupported import without_effect
from scheduler_core.testing.builders import make_node
from scheduler_core.world.commands import ApplyObjects, Refused, SetSettings
from scheduler_core.world.simulation import Simulation, take_in


def world_of(release: str) -> Simulation:
    world = Simulation()
    world.apply(SetSettings({"release": release}))
    return world


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "web"}]
    metadata = {"name": "p", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def template() -> dict[str, Any]:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "web"}]}}


def stored(release: str, manifest: dict[str, Any]) -> dict[str, Any]:
    world = world_of(release)
    world.apply(ApplyObjects((manifest,)))
    metadata = manifest["metadata"]
    found = world.store.get(manifest["kind"], metadata.get("namespace") or "", metadata["name"])
    assert found is not None
    return dict(found)


@pytest.mark.parametrize(
    ("spec", "since", "field"),
    [
        ({"workloadRef": {"name": "w", "podGroup": "g"}}, "1.35.4", "workloadRef"),
        ({"evictionResponders": [{"name": "example.com/a"}]}, "1.37.2", "evictionResponders"),
        ({"volumes": [{"name": "v", "emptyDir": {"mode": 448}}]}, "1.37.2", "mode"),
    ],
)
def test_a_field_is_unknown_before_its_release(spec: dict[str, Any], since: str, field: str) -> None:
    before = {"1.35.4": "1.34.2", "1.37.2": "1.36.3"}[since]
    stored(since, pod(**spec))
    with pytest.raises(Refused, match=f'unknown field ".*{field}"'):
        stored(before, pod(**spec))


def make_kept(key: str) -> dict[str, Any]:
    """An object of a kind that changes nothing, in the newest version."""
    kind, version = KEPT[key], (pick(VERSIONS[key], NEWEST) or "").split()[0]
    metadata = {"name": "a", "uid": "u", **({"namespace": "n"} if kind.namespaced else {})}
    name = key.partition(".")[0]
    return {"apiVersion": f"{kind.group}/{version}", "kind": name, "metadata": metadata, "spec": {"a": {"b": 1}}}


@pytest.mark.parametrize("key", KEPT)
def test_a_kind_that_changes_nothing_is_kept_listed_once_and_marked(key: str) -> None:
    manifest, world = make_kept(key), world_of(NEWEST)
    if KEPT[key].namespaced:
        world.apply(ApplyObjects(({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}},)))
    world.apply(ApplyObjects((manifest,)))
    (found,) = world.store.list(key)
    assert found["spec"] == manifest["spec"]
    assert [path for path, _ in without_effect(found)] == [""]
    listed = answer_read(world, Call("GET", f"/apis/{manifest['apiVersion']}/{KEPT[key].plural}"))
    assert [each["metadata"]["name"] for each in msgspec.json.decode(listed.data)["items"]] == ["a"]


def test_every_rule_of_a_release_is_asked_for_by_its_name() -> None:
    sources = "".join(path.read_text() for path in Path(apiserver.__file__).parent.rglob("*.py"))
    assert [name for name in API_RULES if f'"{name}"' not in sources] == []


@pytest.mark.parametrize("kind", ["Workload.scheduling.k8s.io", "EvictionRequest.lifecycle.k8s.io"])
def test_a_kind_is_unknown_before_its_release(kind: str) -> None:
    with pytest.raises(Refused, match="no matches for kind"):
        world_of("1.34.2").apply(ApplyObjects((make_kept(kind),)))


def test_a_field_that_a_release_took_away_is_unknown_again() -> None:
    with pytest.raises(Refused, match="workloadRef"):
        stored("1.36.3", pod(workloadRef={"name": "w", "podGroup": "g"}))


def test_a_field_has_its_type_and_one_whose_gate_is_off_is_dropped() -> None:
    with pytest.raises(Refused, match="evictionResponders"):
        stored("1.37.2", pod(evictionResponders="all"))
    mounts = [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]
    container = {"name": "c", "image": "web", "volumeMounts": mounts}
    kept = stored("1.37.2", pod(containers=[container], volumes=[{"name": "v", "emptyDir": {}}]))
    assert "bindMountOptions" not in kept["spec"]["containers"][0]["volumeMounts"][0]


@pytest.mark.parametrize(
    ("kind", "spec", "field", "since"),
    [
        (
            "autoscaling/v2 HorizontalPodAutoscaler",
            {"behavior": {"scaleUp": {"tolerance": "0.1"}}},
            "tolerance",
            "1.35.4",
        ),
        (
            "coordination.k8s.io/v1 Lease",
            {"preferredHolder": "a", "strategy": "OldestEmulationVersion"},
            "preferredHolder",
            "",
        ),
        ("storage.k8s.io/v1 CSIDriver", {"nodeAllocatableUpdatePeriodSeconds": 20}, "nodeAllocatable", "1.35.4"),
        (
            "apps/v1 StatefulSet",
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}},
            "maxUnavailable",
            "1.37.2",
        ),
    ],
)
def test_a_field_is_dropped_until_its_gate_is_on(kind: str, spec: dict[str, Any], field: str, since: str) -> None:
    version, _, name = kind.partition(" ")
    metadata = {"name": "a", **({} if name == "CSIDriver" else {"namespace": "default"})}
    needed: dict[str, dict[str, Any]] = {
        "HorizontalPodAutoscaler": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        },
        "StatefulSet": {"serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": template()},
    }
    manifest = {"apiVersion": version, "kind": name, "metadata": metadata, "spec": {**needed.get(name, {}), **spec}}
    kept = [release for release in ("1.34.2", "1.35.4", "1.36.3", "1.37.2") if field in str(stored(release, manifest))]
    assert kept == [release for release in ("1.34.2", "1.35.4", "1.36.3", "1.37.2") if since and release >= since]


def test_image_volumes_and_rules_of_restarts_are_kept_once_their_gates_are_on() -> None:
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
    container = {"name": "c", "image": "web", "restartPolicy": "Never", "restartPolicyRules": rules}
    manifest = pod(containers=[container], volumes=[{"name": "model", "image": {"reference": "models/a:1"}}])
    before, after = stored("1.34.2", manifest)["spec"], stored("1.35.4", manifest)["spec"]
    assert (before["volumes"], "restartPolicyRules" in before["containers"][0]) == ([], False)
    assert (after["volumes"][0]["name"], after["containers"][0]["restartPolicyRules"]) == ("model", rules)


def test_what_a_cluster_of_the_newest_release_wrote_is_taken_completely() -> None:
    node = make_node("a").manifest()
    node = {**node, "status": {**node["status"], "declaredFeatures": ["RestartAllContainersOnContainerExits"]}}
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "d", "uid": "1"},
        "spec": {"preventPodSchedulingIfMissing": True},
    }
    written = pod(evictionResponders=[{"name": "example.com/a"}])
    written = {
        **written,
        "metadata": {**written["metadata"], "uid": "2"},
        "status": {"phase": "Pending", "volumeHealth": []},
    }
    world = world_of("1.37.2")
    objects = take_in(world.store, world.now, [node, driver, written]).objects
    world.apply(ApplyObjects(tuple(objects)))
    assert world.store.get("CSIDriver", "", "d")["spec"]["preventPodSchedulingIfMissing"]  # type: ignore[index]
    assert world.store.get("Node", "", "a")["status"]["declaredFeatures"]  # type: ignore[index]
