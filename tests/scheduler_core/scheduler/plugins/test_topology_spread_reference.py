"""PodTopologySpread against a plain reading of kube's filtering.go and scoring.go, one node and one pod at a time."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins.podtopologyspread.explanation import figures
from tests.scheduler_core.scheduler.plugins.pod_worlds import (
    HOSTNAME,
    KEYS,
    ZONE,
    World,
    changes,
    pod_labels,
    selectors,
    selects,
    worlds,
)
from tests.support.drive import all_rows, make_plugin

MOST = 2**31 - 1
UNEVEN = "node(s) didn't match pod topology spread constraints"

constraints = st.lists(
    st.fixed_dictionaries(
        {
            "topologyKey": st.sampled_from(KEYS),
            "maxSkew": st.integers(1, 3),
            "whenUnsatisfiable": st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": selectors,
        },
        optional={
            "minDomains": st.integers(1, 4),
            "nodeAffinityPolicy": st.sampled_from(("Honor", "Ignore")),
            "nodeTaintsPolicy": st.sampled_from(("Honor", "Ignore")),
            "matchLabelKeys": st.lists(st.sampled_from(("tier", "app")), max_size=2, unique=True),
        },
    ),
    min_size=1,
    max_size=3,
)


@st.composite
def incoming(draw: st.DrawFn) -> Manifest:
    spec: Manifest = {"topologySpreadConstraints": draw(constraints)}
    if draw(st.booleans()):
        spec["nodeSelector"] = {"disk": "ssd"}
    if draw(st.booleans()):
        spec["tolerations"] = [{"operator": "Exists"}]
    return {
        "metadata": {"name": "new", "namespace": "default", "labels": draw(pod_labels)},
        "spec": {"containers": [{"name": "c"}], **spec},
    }


# For what-ifs: constraints to which the pods that come and go matter.
tight = st.lists(
    st.fixed_dictionaries(
        {
            "topologyKey": st.sampled_from((ZONE, HOSTNAME)),
            "maxSkew": st.integers(1, 2),
            "whenUnsatisfiable": st.just("DoNotSchedule"),
            "labelSelector": st.sampled_from(({"matchLabels": {"app": "a"}}, {})),
        },
        optional={"nodeTaintsPolicy": st.just("Honor"), "minDomains": st.just(2)},
    ),
    min_size=1,
    max_size=2,
)
tight_incoming = tight.map(
    lambda each: {
        "metadata": {"name": "new", "namespace": "default", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c"}], "topologySpreadConstraints": each},
    }
)


# The reference


class CriticalPaths:
    def __init__(self) -> None:
        self.paths: list[tuple[str, int]] = [("", MOST), ("", MOST)]

    def update(self, value: str, number: int) -> None:
        first, second = self.paths
        if value == first[0]:
            first = (value, number)
        elif value == second[0]:
            second = (value, number)
        elif number < first[1]:
            first, second = (value, number), first
        elif number < second[1]:
            second = (value, number)
        if first[1] > second[1]:
            first, second = second, first
        self.paths = [first, second]


def wanted(pod: Manifest, action: str) -> list[Manifest]:
    return [c for c in pod["spec"]["topologySpreadConstraints"] if c["whenUnsatisfiable"] == action]


def selector(constraint: Manifest, pod: Manifest) -> Manifest | None:
    own: Manifest | None = constraint["labelSelector"]
    labels = pod["metadata"]["labels"]
    keys = [key for key in constraint.get("matchLabelKeys", []) if key in labels]
    if own is None or not keys:
        return own
    added = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys]
    return {**own, "matchExpressions": [*own.get("matchExpressions", []), *added]}


def included(constraint: Manifest, pod: Manifest, node: Manifest) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor":
        if any(node["labels"].get(k) != v for k, v in pod["spec"].get("nodeSelector", {}).items()):
            return False
    if constraint.get("nodeTaintsPolicy", "Ignore") == "Honor":
        return not (node["tainted"] and not pod["spec"].get("tolerations"))
    return True


def count(pods: list[Manifest], chosen: Manifest | None, namespace: str) -> int:
    if chosen == {}:
        return 0
    return sum(
        "deletionTimestamp" not in pod["metadata"]
        and pod["metadata"]["namespace"] == namespace
        and selects(chosen, pod["metadata"]["labels"])
        for pod in pods
    )


class Filtering:
    """kube's preFilterState: pods by topology value and the critical paths, per constraint."""

    def __init__(self, world: World, pod: Manifest) -> None:
        self.pod = pod
        self.constraints = wanted(pod, "DoNotSchedule")
        self.numbers: list[dict[str, int]] = [{} for _ in self.constraints]
        for node in world.nodes:
            if not self.qualified(node):
                continue
            for i, c in enumerate(self.constraints):
                if included(c, pod, node):
                    value = node["labels"][c["topologyKey"]]
                    found = count(world.on(node["name"]), selector(c, pod), pod["metadata"]["namespace"])
                    self.numbers[i][value] = self.numbers[i].get(value, 0) + found
        self.paths = [CriticalPaths() for _ in self.constraints]
        for paths, numbers in zip(self.paths, self.numbers, strict=True):
            for value, number in numbers.items():
                paths.update(value, number)

    def qualified(self, node: Manifest) -> bool:
        return all(c["topologyKey"] in node["labels"] for c in self.constraints)

    def update(self, other: Manifest, node: Manifest, delta: int) -> None:
        if other["metadata"]["namespace"] != self.pod["metadata"]["namespace"] or not self.qualified(node):
            return
        for i, c in enumerate(self.constraints):
            if selects(selector(c, self.pod), other["metadata"]["labels"]) and included(c, self.pod, node):
                value = node["labels"][c["topologyKey"]]
                self.numbers[i][value] += delta
                self.paths[i].update(value, self.numbers[i][value])

    def verdict(self, node: Manifest) -> str | None:
        for c, numbers, paths in zip(self.constraints, self.numbers, self.paths, strict=True):
            if c["topologyKey"] not in node["labels"]:
                return f"{UNEVEN} (missing required label)"
            least = 0 if len(numbers) < c.get("minDomains", 1) else paths.paths[0][1]
            itself = selects(selector(c, self.pod), self.pod["metadata"]["labels"])
            if numbers.get(node["labels"][c["topologyKey"]], 0) + itself - least > c["maxSkew"]:
                return UNEVEN
        return None


def raw_scores(world: World, pod: Manifest, filtered: list[Manifest]) -> tuple[list[int], list[bool]]:
    """Score and whether the node is ignored."""
    soft = wanted(pod, "ScheduleAnyway")
    ignored = [not all(c["topologyKey"] in n["labels"] for c in soft) for n in filtered]
    kept = [n for n, out in zip(filtered, ignored, strict=True) if not out]
    totals = [0.0] * len(filtered)
    for c in soft:
        key, chosen = c["topologyKey"], selector(c, pod)
        values = {n["labels"][key] for n in kept}
        size = len(kept) if key == HOSTNAME else len(values)
        sums = dict.fromkeys(values, 0)
        for n in world.nodes:
            if all(s["topologyKey"] in n["labels"] for s in soft) and included(c, pod, n):
                if n["labels"][key] in sums:
                    sums[n["labels"][key]] += count(world.on(n["name"]), chosen, "default")
        for i, n in enumerate(filtered):
            if ignored[i]:
                continue
            own = count(world.on(n["name"]), chosen, "default") if key == HOSTNAME else sums[n["labels"][key]]
            totals[i] += own * math.log(size + 2) + (c["maxSkew"] - 1)
    return [0 if out else math.floor(t + 0.5) for t, out in zip(totals, ignored, strict=True)], ignored


def normalised(scores: list[int], ignored: list[bool]) -> list[int]:
    kept = [s for s, out in zip(scores, ignored, strict=True) if not out]
    high, low = max(kept, default=0), min(kept, default=0)
    return [
        0 if out else 100 if high == 0 else 100 * (high + low - s) // high
        for s, out in zip(scores, ignored, strict=True)
    ]


# The comparisons


def started(world: World, manifest: Manifest) -> tuple[Plugin, NodeTable, Pod, CycleState]:
    return make_plugin("PodTopologySpread"), world.table(), Pod.from_manifest(manifest), CycleState()


def verdicts(plugin: Plugin, state: CycleState, pod: Pod, table: NodeTable) -> list[str | None]:
    found = plugin.filter(state, pod, table, all_rows(table))
    if found is None:
        return [None] * len(table)
    return [None if r < 0 else found.statuses[r].message for r in found.reason.tolist()]


@given(worlds(st.just({})), incoming())
def test_hard_constraints_are_judged_as_node_by_node(world: World, manifest: Manifest) -> None:
    plugin, table, pod, state = started(world, manifest)
    by_name = {node["name"]: node for node in world.nodes}
    skipped = plugin.pre_filter(state, pod, table).status.skipped
    assert skipped is not bool(wanted(manifest, "DoNotSchedule"))
    if not skipped:
        reference = Filtering(world, manifest)
        assert verdicts(plugin, state, pod, table) == [reference.verdict(by_name[n]) for n in table.names]


@given(worlds(st.just({}), alike=True), st.one_of(tight_incoming, incoming()), st.data())
@settings(max_examples=200)
def test_what_ifs_are_judged_as_on_a_state_of_each_nodes_own(
    world: World, manifest: Manifest, data: st.DataObject
) -> None:
    plugin, table, pod, state = started(world, manifest)
    if plugin.pre_filter(state, pod, table).status.skipped:
        return
    by_name = {node["name"]: node for node in world.nodes}
    rows = {name: row for row, name in enumerate(table.names)}
    drawn = data.draw(changes(world, st.just({})))
    made = [Change(rows[world.nodes[i]["name"]], Pod.from_manifest(p), sign) for i, p, sign in drawn]
    before = verdicts(plugin, state, pod, table)
    what_if = state.copy()
    half = len(made) // 2
    for part in (made[:half], made[half:]):
        plugin.adjust(what_if, pod, table, part)
    expected = []
    for name in table.names:
        reference = Filtering(world, manifest)
        for i, changed, sign in drawn:
            if world.nodes[i]["name"] == name:
                reference.update(changed, by_name[name], sign)
        expected.append(reference.verdict(by_name[name]))
    assert verdicts(plugin, what_if, pod, table) == expected
    assert verdicts(plugin, state, pod, table) == before


@given(worlds(st.just({})), incoming(), st.data())
def test_soft_constraints_are_scored_as_node_by_node(world: World, manifest: Manifest, data: st.DataObject) -> None:
    plugin, table, pod, state = started(world, manifest)
    by_name = {node["name"]: node for node in world.nodes}
    chosen = sorted(data.draw(st.sets(st.integers(0, len(table) - 1), min_size=1)))
    rows = np.array(chosen, np.intp)
    status = plugin.pre_score(state, pod, table, rows)
    assert status.skipped is not bool(wanted(manifest, "ScheduleAnyway"))
    if status.skipped:
        return
    expected, ignored = raw_scores(world, manifest, [by_name[table.names[row]] for row in chosen])
    scores = plugin.score(state, pod, table, rows)
    assert isinstance(scores, np.ndarray)
    assert scores.tolist() == expected
    assert plugin.normalize(state, pod, table, rows, scores).tolist() == normalised(expected, ignored)


@given(worlds(st.just({})), incoming())
@settings(max_examples=30)
def test_the_figures_for_people_agree_with_the_verdict(world: World, manifest: Manifest) -> None:
    plugin, table, pod, state = started(world, manifest)
    if plugin.pre_filter(state, pod, table).status.skipped:
        return
    for row, verdict in enumerate(verdicts(plugin, state, pod, table)):
        found = figures(state.read("PreFilterPodTopologySpread"), row)
        assert (verdict is None) is all(c.domain is not None and not c.uneven for c in found)
