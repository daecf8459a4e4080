"""What Fix does about volumes, quotas, nodes and the configuration, each in the smallest cluster that needs it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.scheduler.plugins.cel import Definition
from scheduler_core.world.commands import ApplyObjects, DefinePlugin, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, pod

ZONE = "topology.kubernetes.io/zone"
NONE = "kubernetes.io/no-provisioner"


def cluster(*objects: dict[str, Any], given: dict[str, Any] | None = None) -> Simulation:
    sim = Simulation(seed=1)
    if given is not None:
        sim.apply(SetConfiguration(given))
    sim.apply(ApplyObjects(objects))
    sim.run(steps=5_000)
    return sim


def fixes_of(*objects: dict[str, Any], key: str = "default/p", **rest: Any) -> dict[str, Fix]:
    return {fix.kind: fix for fix in reversed(find_fixes(cluster(*objects, **rest), key))}


def claiming(name: str = "p", claim: str = "data", **rest: Any) -> dict[str, Any]:
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}], **rest)


def claim(cls: str | None = None, size: str = "10Gi", mode: str = "ReadWriteOnce") -> dict[str, Any]:
    spec: dict[str, Any] = {"accessModes": [mode], "resources": {"requests": {"storage": size}}}
    if cls is not None:
        spec["storageClassName"] = cls
    meta = {"name": "data", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def volume(cls: str = "", size: str = "10Gi", **spec: Any) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": size},
        "storageClassName": cls,
        "nfs": {"server": "nfs", "path": "/"},
        **spec,
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}


def storage(
    name: str, provisioner: str = "csi.example", mode: str = "WaitForFirstConsumer", **rest: Any
) -> dict[str, Any]:
    meta = {"name": name}
    known = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta}
    return {**known, "provisioner": provisioner, "volumeBindingMode": mode, **rest}


def allowed(zone: str) -> list[dict[str, Any]]:
    return [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]}]


CASES: dict[str, tuple[tuple[dict[str, Any], ...], str]] = {
    "a volume whose old claim is gone": (
        (
            node("a"),
            storage("manual", NONE, "Immediate"),
            volume("manual", claimRef={"namespace": "default", "name": "old", "uid": "1"}),
            claim("manual"),
            claiming(),
        ),
        "release",
    ),
    "a volume of another class": ((node("a"), volume("manual"), claim("standard"), claiming()), "claim-class"),
    "a volume that is too small": ((node("a"), volume("manual", "5Gi"), claim("manual"), claiming()), "claim-size"),
    "a volume of another mode": (
        (node("a"), volume("manual"), claim("manual", mode="ReadWriteMany"), claiming()),
        "claim-mode",
    ),
    "a volume that offers another mode": (
        (node("a"), volume("manual"), claim("manual", mode="ReadWriteMany"), claiming()),
        "volume-modes",
    ),
    "a volume of an earlier claim of the name": (
        (
            node("a"),
            volume("manual", claimRef={"namespace": "default", "name": "data", "uid": "1"}),
            claim("manual"),
            claiming(),
        ),
        "release",
    ),
    "a claim without a class beside another one": (
        (node("a"), claim(), {**claim(), "metadata": {"name": "another", "namespace": "default"}}, claiming()),
        "volume",
    ),
    "a driver that publishes no capacity": (
        (
            node("a"),
            storage("fast"),
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": "csi.example"},
                "spec": {"storageCapacity": True},
            },
            claim("fast"),
            claiming(),
        ),
        "field",
    ),
    "a class without a provisioner": ((node("a"), storage("local", NONE), claim("local"), claiming()), "volume"),
    "a class for another zone": (
        (
            node("a", labels={ZONE: "a"}),
            storage("fast", allowedTopologies=allowed("b")),
            claim("fast"),
            claiming(),
        ),
        "topologies",
    ),
    "pods that fill two nodes by halves": (
        (node("a"), node("b"), pod("x", cpu="2", nodeName="a"), pod("y", cpu="2", nodeName="b"), pod("p", cpu="3")),
        "move",
    ),
    "a machine of another kind": ((node("a"), pod("p", nodeSelector={"kubernetes.io/arch": "arm64"})), "node"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_situation_has_its_fix(case: str) -> None:
    objects, kind = CASES[case]
    found = fixes_of(*objects)
    assert kind in found
    assert found[kind].kubectl.startswith("kubectl ")


def test_a_volume_that_is_kept_is_released_before_an_empty_one_is_made() -> None:
    objects, _ = CASES["a volume of an earlier claim of the name"]
    assert [fix.kind for fix in find_fixes(cluster(*objects), "default/p")][:2] == ["release", "volume"]


def test_a_resource_that_several_containers_ask_for_and_no_node_offers_is_given_up_by_all() -> None:
    asks = pod("p")
    asks["spec"]["containers"] = [
        {"name": name, "image": "i", "resources": {"requests": {"ephemeral-storage": size}}}
        for name, size in (("a", "2Mi"), ("b", "10Mi"))
    ]
    found = fixes_of(node("n"), asks)["request"]
    assert found.changes[0].values == {"resource": "ephemeral-storage", "from": "12Mi", "to": "0"}


def test_what_a_machine_is_is_not_changed_by_a_label() -> None:
    labels = {"kubernetes.io/arch": "amd64"}
    assert "label" not in fixes_of(node("a", labels=labels), pod("p", nodeSelector={"kubernetes.io/arch": "arm64"}))


def test_moved_pods_are_told_and_land_where_they_fit() -> None:
    objects, _ = CASES["pods that fill two nodes by halves"]
    move = fixes_of(*objects)["move"]
    assert [(effect.kind, effect.pod) for effect in move.effects] == [("moves", "default/x")]
    assert move.node == "a"


def test_a_pod_that_goes_against_its_budget_is_told() -> None:
    guarded = pod("x", cpu="4", nodeName="a")
    guarded["metadata"]["labels"] = {"app": "db"}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}},
    }
    free = fixes_of(node("a"), guarded, budget, pod("p"))["free"]
    assert [effect.kind for effect in free.effects] == ["violates", "evicted"]


def test_a_quota_is_raised_for_pods_that_are_not_there() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "500m"}},
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("any")["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    found = fixes_of(node("a"), quota, deployment, key="default/web-*")
    assert dict(found["quota"].changes[0].values) == {
        "quota": "small", "resource": "requests.cpu", "from": "500m", "to": "1",
    }  # fmt: skip
    assert found["quota"].node == "a"


def test_a_quota_is_raised_by_what_limit_ranges_say_for_the_missing_pods() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"hard": {"limits.memory": "300Mi", "requests.cpu": "4"}},
    }
    defaults = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "sizes", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "default": {"memory": "256Mi"}}]},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("any")["spec"]},
        },
    }
    found = fixes_of(node("a"), quota, defaults, deployment, key="default/web-*")
    assert [(each.kind, each.values["to"]) for each in found["quota"].changes] == [("quota", "512Mi")]
    assert "limit-range" not in found


def test_what_a_workload_made_is_changed_in_its_template() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("any", nodeSelector={"disk": "ssd"})["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    sim = cluster(node("a"), deployment)
    (waiting,) = sim.store.pods()
    typed = {fix.kind: fix.kubectl for fix in find_fixes(sim, waiting.key)}
    patch = '{"spec": {"template": {"spec": {"nodeSelector": {"disk": null}}}}}'
    assert typed["selector"] == f"kubectl patch deployment web -n default --type=merge -p '{patch}'"


def test_an_argument_that_keeps_all_pods_off_is_taken_out() -> None:
    terms = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["blue"]}]}]
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    profile = {
        "schedulerName": "default-scheduler",
        "pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}],
    }
    found = fixes_of(node("a"), pod("p"), given=configuration(profiles=[profile]))
    assert list(found) == ["configuration", "label"]


def test_a_plugin_that_knows_no_fix_can_be_disabled() -> None:
    sim = Simulation(seed=1)
    sim.apply(DefinePlugin("Mine", Definition(filter="false")))
    plugins = {"multiPoint": {"enabled": [{"name": "Mine"}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    sim.apply(SetConfiguration(configuration(profiles=[profile])))
    sim.apply(ApplyObjects((node("a"), pod("p"))))
    sim.run(steps=2_000)
    (fix,) = find_fixes(sim, "default/p")
    assert (fix.kind, fix.harm, fix.node) == ("disable", "defeats", "a")


def test_a_priority_class_that_never_preempts_gives_way_to_one_that_does() -> None:
    never = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "never"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    raised = fixes_of(node("a"), never, pod("x", cpu="4", nodeName="a"), pod("p", priorityClassName="never"))
    assert [effect.kind for effect in raised["priority"].effects] == ["evicted"]


def test_a_new_node_that_others_would_take_is_proven_with_these_held_back() -> None:
    waiting = [pod(f"q-{i}", cpu="3", priority=100) for i in range(3)]
    found = fixes_of(node("a", "1"), *waiting, pod("p", cpu="8"))
    assert found["node"].held_back == len(waiting)


def test_no_node_of_another_kind_is_told_to_offer_what_some_offer() -> None:
    gpus = {**node("g")["status"]["capacity"], "nvidia.com/gpu": "1"}
    gpu = {**node("g"), "spec": {"unschedulable": True}, "status": {"capacity": gpus, "allocatable": gpus}}
    asks = pod("p")
    asks["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1", "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"},
    }
    found = fixes_of(node("a"), gpu, asks)
    assert "uncordon" in found
    assert "capacity" not in found


def test_huge_pages_are_said_as_people_write_them() -> None:
    asks = pod("p")
    for field in ("requests", "limits"):
        asks["spec"]["containers"][0]["resources"].setdefault(field, {})["hugepages-2Mi"] = "512Mi"
    found = fixes_of(node("a"), asks)
    assert found["capacity"].changes[0].values["to"] == "512Mi"
    assert found["node"].changes[0].values["amounts"]["hugepages-2Mi"] == "512Mi"
