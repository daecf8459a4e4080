"""Objects for worlds that hypothesis makes: few names and few sizes, so that they meet."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.world.commands import (
    DEFAULT_SCHEDULER_NAME,
    Command,
    FailCall,
    Redo,
    SetConfiguration,
    SetSettings,
    Undo,
)
from tests.scheduler_core.worlds import configuration, node, pod
from tests.support.storage import make_claim, make_class, make_csi_node, make_volume

NODES = st.sampled_from(["n0", "n1", "n2"])
PODS = st.sampled_from([f"p{i}" for i in range(6)])
CLAIMS = st.sampled_from(["c0", "c1"])
VOLUMES = st.sampled_from(["v0", "v1"])
DRIVER = "csi.example.com"
APPS = st.sampled_from(["a", "b"])
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
TOPOLOGIES = st.sampled_from([ZONE, HOST])
PRIORITIES = {"low": -5, "middle": 5, "high": 100}


def several(
    one: st.SearchStrategy[MutableManifest], least: int, most: int
) -> st.SearchStrategy[tuple[MutableManifest, ...]]:
    """Some objects, no name twice."""
    made = st.lists(one, min_size=least, max_size=most, unique_by=lambda m: m["metadata"]["name"])
    return made.map(tuple)


def _term(app: str, topology: str) -> MutableManifest:
    return {"topologyKey": topology, "labelSelector": {"matchLabels": {"app": app}}}


TERMS = st.lists(st.builds(_term, APPS, TOPOLOGIES), min_size=1, max_size=2)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _spread(app: str, topology: str, skew: int, hard: bool) -> MutableManifest:
    constraint = {
        "maxSkew": skew,
        "topologyKey": topology,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {"topologySpreadConstraints": [constraint]}


TOLERATIONS = [{"key": "t", "operator": "Exists"}]
NOTES = st.sampled_from(
    [
        {"playground.dev/permit": "wait:3s"},
        {"playground.dev/permit": "wait:40s"},
        {"playground.dev/permit": "reject"},
        {"playground.dev/reserve": "fail"},
        {"playground.dev/reserve": "reject"},
        {"playground.dev/pre-bind": "delay:2s"},
        {"playground.dev/pre-bind": "fail"},
        {"playground.dev/bind": "delay:1s"},
        {"playground.dev/bind": "fail"},
        {"playground.dev/pre-enqueue": "reject"},
    ]
)


_SPECS: dict[str, st.SearchStrategy[MutableManifest]] = {
    "gate": st.just({"schedulingGates": [{"name": "g"}]}),
    "tolerations": st.just({"tolerations": TOLERATIONS}),
    "zone": st.sampled_from(["z0", "z1"]).map(lambda zone: {"nodeSelector": {ZONE: zone}}),
    "spread": st.builds(_spread, APPS, TOPOLOGIES, st.integers(1, 2), st.booleans()),
    "near": TERMS.map(lambda terms: {"affinity": {"podAffinity": {REQUIRED: terms}}}),
    "away": TERMS.map(lambda terms: {"affinity": {"podAntiAffinity": {REQUIRED: terms}}}),
    "claim": CLAIMS.map(lambda name: {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}),
    "scheduler": st.sampled_from(["second", "nobody"]).map(lambda name: {"schedulerName": name}),
}
TRAITS = st.lists(
    st.sampled_from([*_SPECS, "away", "claim", "notes", "notes", "notes", "port"]), max_size=2, unique=True
)


@st.composite
def pods(draw: st.DrawFn) -> MutableManifest:
    """A pod with at most two of the things that a scheduler looks at besides size and priority."""
    traits = draw(TRAITS)
    spec: MutableManifest = {"terminationGracePeriodSeconds": draw(st.sampled_from([0, 5, 45]))}
    priority = draw(st.sampled_from(["", *PRIORITIES, "polite"]))
    if priority:
        spec["priorityClassName"] = priority
    for trait in traits:
        if trait in _SPECS:
            spec.update(draw(_SPECS[trait]))
    notes = draw(NOTES) if "notes" in traits else {}
    made = pod(draw(PODS), cpu=draw(st.sampled_from(["100m", "1", "2"])), annotations=notes, **spec)
    made["metadata"]["labels"] = {"app": draw(APPS)}
    if "port" in traits:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return made


EFFECTS = ["", "", "NoSchedule", "PreferNoSchedule", "NoExecute"]


@st.composite
def nodes(draw: st.DrawFn) -> MutableManifest:
    zone, effect = draw(st.sampled_from(["", "z0", "z1"])), draw(st.sampled_from(EFFECTS))
    made = node(draw(NODES), cpu=draw(st.sampled_from(["1", "2", "4", "8"])), labels={ZONE: zone} if zone else {})
    made["spec"] = {"taints": [{"key": "t", "effect": effect}]} if effect else {}
    return made


@st.composite
def storage(draw: st.DrawFn) -> MutableManifest:
    """A claim or a volume of a class that waits for its consumer, that provisions, or that binds at once."""
    cls = draw(st.sampled_from(["local", "made", "now"]))
    if draw(st.booleans()):
        return make_claim(draw(CLAIMS), cls)
    return make_volume(draw(VOLUMES), cls, hosts=draw(st.sampled_from([(), ("n0",), ("n1", "n2")])))


def _budget(app: str, least: int) -> MutableManifest:
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": app}}}
    meta = {"name": f"keep-{app}", "namespace": "default"}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


OTHERS: st.SearchStrategy[MutableManifest] = st.one_of(
    storage(),
    storage(),
    st.builds(make_csi_node, NODES, st.sampled_from([{DRIVER: 0}, {DRIVER: 1}, {DRIVER: 8}])),
    st.builds(_budget, APPS, st.integers(0, 2)),
    st.builds(make_class, st.sampled_from(["local", "now"])),
)


def fixtures() -> tuple[MutableManifest, ...]:
    """Priority classes and storage classes that every world has."""
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    classes = [{**kind, "metadata": {"name": name}, "value": value} for name, value in PRIORITIES.items()]
    polite = {**kind, "metadata": {"name": "polite"}, "value": 50, "preemptionPolicy": "Never"}
    return (
        *classes,
        polite,
        make_class("local"),
        make_class("made", provisioner=DRIVER),
        make_class("now", provisioner=DRIVER, mode="Immediate"),
    )


def failing(pod: str, call: str, code: int, after_write: bool, slow: bool) -> FailCall:
    """One of a pod's calls fails, or takes five seconds, or both."""
    latency = 5_000_000_000 if slow or not code else None
    return FailCall(call, pod, code, 1, after_write and bool(code), latency)


FAULTS = st.tuples(
    st.sampled_from(["bind", "bind", "status", "delete", "volumes"]),
    st.sampled_from([0, 404, 409, 409, 500]),
    st.booleans(),
    st.booleans(),
)

MILLISECOND, SECOND = 1_000_000, 1_000_000_000
SETTINGS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"pop_from_backoff": False},
        {"pop_from_backoff": True},
        {"async_preemption": False},
        {"async_preemption": True},
        {"async_api_calls": False},
        {"async_api_calls": True},
        {"expect_nominated_node": True},
        {"pod_level_resources": False, "in_place_scaling": False},
        {"dynamic_resources": False, "observed_generation": False},
        {"storage_capacity_scoring": True, "volume_attributes_class": False},
        {"max_in_unschedulable": 60 * SECOND},
        {"cluster": {"controllers": []}},
        {"cluster": {}},
        {"cycle_cost": 0, "bind_cost": 0, "patch_cost": 0},
        {"cycle_cost": 300 * MILLISECOND, "bind_cost": 2 * SECOND, "patch_cost": 700 * MILLISECOND},
        {"evict_cost": 3 * SECOND},
        {"client_qps": 1, "client_burst": 1},
        {"queue_mode": "historical"},
        {"queue_mode": "v1.34"},
        {"informer_lag": 200 * MILLISECOND},
        {"informer_lag": 3 * SECOND},
        {"informer_lag": 0},
        {"informer_lag": 4 * SECOND, "assumed_pod_ttl": SECOND},
        {"assumed_pod_ttl": 0},
    ]
)


def _profiles(names: tuple[str, ...], scheduler: str) -> SetConfiguration:
    made = [{"schedulerName": name} for name in names]
    return SetConfiguration(configuration(profiles=made, percentageOfNodesToScore=50), scheduler)


SURROUNDINGS: st.SearchStrategy[Command] = st.one_of(
    SETTINGS.map(SetSettings),
    st.sampled_from([Undo(), Undo(), Redo()]),
    st.sampled_from(
        [
            _profiles(("default-scheduler",), DEFAULT_SCHEDULER_NAME),
            _profiles(("default-scheduler", "second"), DEFAULT_SCHEDULER_NAME),
            _profiles(("second",), "other"),
            SetConfiguration(None, "other"),
        ]
    ),
)
POD_PATCHES = st.one_of(
    st.none(),
    st.none(),
    st.sampled_from(
        [
            {"spec": {"schedulingGates": None}},
            {"metadata": {"labels": {"app": "a"}}},
            {"metadata": {"labels": {"app": "b"}}},
            {"metadata": {"annotations": None}},
            {"metadata": {"annotations": {"playground.dev/permit": "wait:3s"}}},
            {"spec": {"tolerations": TOLERATIONS}},
        ]
    ),
)
NODE_PATCHES = st.one_of(
    st.none(),
    st.sampled_from(
        [
            {"spec": {"unschedulable": True}},
            {"spec": {"unschedulable": False}},
            {"spec": {"taints": None}},
            {"metadata": {"labels": {ZONE: "z0"}}},
            {"metadata": {"labels": {ZONE: "z1"}}},
            {"status": {"allocatable": {"cpu": "4"}}},
            {"status": {"allocatable": {"cpu": "1"}}},
        ]
    ),
)
