"""Generated clusters for plugins that count pods: few labels, few values, so that things meet."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.testing.builders import PodBuilder, make_cache, make_node, make_pod

HOSTNAME, ZONE, RACK = "kubernetes.io/hostname", "zone", "rack"
KEYS = (HOSTNAME, ZONE, RACK)
NAMESPACES = ("default", "other", "third")

pod_labels = st.fixed_dictionaries({"app": st.sampled_from(("a", "b"))}, optional={"tier": st.sampled_from(("", "x"))})
selectors = st.sampled_from(
    (
        None,
        {},
        {"matchLabels": {"app": "a"}},
        {"matchLabels": {"app": "a", "tier": "x"}},
        {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]},
    )
)


def selects(selector: MutableManifest | None, labels: dict[str, str]) -> bool:
    """metav1.LabelSelector, plainly."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for expression in selector.get("matchExpressions", []):
        value = labels.get(expression["key"])
        if expression["operator"] == "DoesNotExist" and value is not None:
            return False
        if expression["operator"] == "Exists" and value is None:
            return False
        if expression["operator"] == "In" and value not in expression["values"]:
            return False
        if expression["operator"] == "NotIn" and value in expression["values"]:
            return False
    return True


@dataclass
class World:
    nodes: list[MutableManifest]
    pods: list[MutableManifest]  # bound ones

    def cache(self) -> Cache:
        cache = make_cache([])
        for node in self.nodes:
            cache.add_node(node["built"].node())
        for pod in self.pods:
            cache.add_pod(Pod.from_manifest(pod))
        return cache

    def table(self) -> NodeTable:
        return self.cache().update_snapshot(NodeTable())

    def on(self, name: str) -> list[MutableManifest]:
        return [pod for pod in self.pods if pod["spec"]["nodeName"] == name]


def node(i: int, labels: dict[str, str], *, tainted: bool, hostname: bool) -> MutableManifest:
    built = make_node(f"n{i}")
    for key, value in labels.items():
        built = built.label(key, value)
    if tainted:
        built = built.taint("k", "NoSchedule")
    if not hostname:
        manifest = built.manifest()
        del manifest["metadata"]["labels"][HOSTNAME]
        built = type(built)(manifest)
    manifest = built.manifest()
    return {"name": f"n{i}", "labels": manifest["metadata"]["labels"], "tainted": tainted, "built": built}


nodes = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {},
            optional={
                ZONE: st.sampled_from(("z1", "z2", "z3", "")),
                RACK: st.sampled_from(("r1", "r2")),
                "disk": st.just("ssd"),
            },
        ),
        st.booleans(),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=7,
).map(lambda each: [node(i, labels, tainted=t, hostname=h > 0) for i, (labels, t, h) in enumerate(each)])


def pod(name: str, namespace: str, labels: dict[str, str], spec: MutableManifest, *, deleting: bool) -> PodBuilder:
    built = make_pod(name, namespace).labels(labels).with_spec(**spec)
    return built.with_metadata(deletionTimestamp="2026-01-01T00:00:00Z") if deleting else built


def pods(
    prefix: str, specs: st.SearchStrategy[MutableManifest], most: int, *, alike: bool = False
) -> st.SearchStrategy[list[PodBuilder]]:
    """`alike`: all in one namespace, so that most pods of a cluster meet."""
    one = st.tuples(st.sampled_from(NAMESPACES[: 1 if alike else 2]), pod_labels, specs, st.integers(0, 4))
    return st.lists(one, max_size=most).map(
        lambda each: [
            pod(f"{prefix}{i}", namespace, labels, spec, deleting=d == 0)
            for i, (namespace, labels, spec, d) in enumerate(each)
        ]
    )


@st.composite
def worlds(draw: st.DrawFn, specs: st.SearchStrategy[MutableManifest], *, alike: bool = False) -> World:
    drawn = draw(nodes)
    bound = [
        built.on(draw(st.sampled_from(drawn))["name"]).manifest() for built in draw(pods("p", specs, 10, alike=alike))
    ]
    return World(drawn, bound)


@st.composite
def changes(
    draw: st.DrawFn, world: World, specs: st.SearchStrategy[MutableManifest]
) -> list[tuple[int, MutableManifest, int]]:
    """A what-if per node (row, pod, sign): some of its pods leave, some of those come back, others come."""
    out: list[tuple[int, MutableManifest, int]] = []
    for row, each in enumerate(world.nodes):
        for i, there in enumerate(world.on(each["name"])):
            if draw(st.booleans()):
                out.append((row, there, -1))
                if i % 2 and draw(st.booleans()):
                    out.append((row, there, 1))
        added = draw(pods(f"new{row}-", specs, 3, alike=True))
        out += [(row, built.on(each["name"]).manifest(), 1) for built in added]
    return out
