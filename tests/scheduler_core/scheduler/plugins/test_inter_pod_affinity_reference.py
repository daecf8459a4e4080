"""InterPodAffinity against a plain reading of kube's filtering.go and scoring.go, one node, one pod and one term at a time."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.plugins.interpodaffinity.explanation import repelling, term_figures
from tests.scheduler_core.scheduler.plugins.pod_worlds import (
    KEYS,
    NAMESPACES,
    World,
    changes,
    pod_labels,
    selectors,
    selects,
    worlds,
)
from tests.support.drive import NoObjects, all_rows, make_plugin

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
AFFINITY = "node(s) didn't match pod affinity rules"
OWN_ANTI = "node(s) didn't match pod anti-affinity rules"
EXISTING_ANTI = "node(s) didn't satisfy existing pods anti-affinity rules"

# "third" has pods but no Namespace object.
NAMESPACE_LABELS: dict[str, dict[str, str]] = {"default": {"team": "a"}, "other": {}}


class Namespaces(NoObjects):
    """A handle that knows namespaces."""

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        found = [each for each in self.list(kind) if each["metadata"]["name"] == name]
        return found[0] if found else None

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        if kind != "Namespace":
            return []
        return [{"metadata": {"name": name, "labels": labels}} for name, labels in NAMESPACE_LABELS.items()]


terms = st.fixed_dictionaries(
    {"topologyKey": st.sampled_from(KEYS), "labelSelector": selectors},
    optional={
        "namespaces": st.lists(st.sampled_from(NAMESPACES), max_size=2, unique=True),
        "namespaceSelector": st.sampled_from(
            ({}, {"matchLabels": {"team": "a"}}, {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]})
        ),
    },
)
some_terms = st.lists(terms, max_size=2)
weighted = st.lists(
    st.tuples(st.integers(1, 3), terms).map(lambda each: {"weight": each[0], "podAffinityTerm": each[1]}), max_size=2
)


@st.composite
def specs(draw: st.DrawFn) -> Manifest:
    """Most pods have no terms; the others have one to a few."""
    affinity: Manifest = {}
    for kind in ("podAffinity", "podAntiAffinity"):
        if draw(st.integers(0, 2)) == 0:
            affinity[kind] = {REQUIRED: draw(some_terms), PREFERRED: draw(weighted)}
    return {"affinity": affinity} if affinity else {}


@st.composite
def incoming(draw: st.DrawFn) -> Manifest:
    return {
        "metadata": {"name": "new", "namespace": draw(st.sampled_from(NAMESPACES)), "labels": draw(pod_labels)},
        "spec": {"containers": [{"name": "c"}], **draw(specs())},
    }


# For what-ifs: terms to which the pods that come and go matter.
plain_terms = st.lists(
    st.fixed_dictionaries(
        {
            "topologyKey": st.sampled_from(KEYS),
            "labelSelector": st.sampled_from(({"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}})),
        }
    ),
    max_size=2,
)
plain_specs: st.SearchStrategy[Manifest] = st.one_of(
    st.just({}),
    st.tuples(st.sampled_from(("podAffinity", "podAntiAffinity")), plain_terms).map(
        lambda each: {"affinity": {each[0]: {REQUIRED: each[1]}}}
    ),
)
plain_incoming = st.tuples(pod_labels, plain_specs).map(
    lambda each: {
        "metadata": {"name": "new", "namespace": "default", "labels": each[0]},
        "spec": {"containers": [{"name": "c"}], **each[1]},
    }
)


# The reference


def required(pod: Manifest, kind: str) -> list[Manifest]:
    return list(pod["spec"].get("affinity", {}).get(kind, {}).get(REQUIRED, []))


def preferred(pod: Manifest, kind: str) -> list[tuple[int, Manifest]]:
    found = pod["spec"].get("affinity", {}).get(kind, {}).get(PREFERRED, [])
    return [(each["weight"], each["podAffinityTerm"]) for each in found]


def matches(term: Manifest, owner: Manifest, pod: Manifest, namespace_labels: dict[str, str]) -> bool:
    """AffinityTerm.Matches for a term of `owner`."""
    named = list(term.get("namespaces", []))
    if not named and term.get("namespaceSelector") is None:
        named = [owner["metadata"]["namespace"]]
    named += term.get("merged", [])
    meant = pod["metadata"]["namespace"] in named
    meant = meant or selects(term.get("namespaceSelector"), namespace_labels)
    return meant and selects(term["labelSelector"], pod["metadata"]["labels"])


def merged(pod: Manifest) -> Manifest:
    """The incoming pod with the namespaces of its terms' selectors added by name."""
    out = copy.deepcopy(pod)
    every = [term for kind in ("podAffinity", "podAntiAffinity") for term in required(out, kind)]
    every += [term for kind in ("podAffinity", "podAntiAffinity") for _, term in preferred(out, kind)]
    for term in every:
        if term.get("namespaceSelector"):
            term["merged"] = [n for n, labels in NAMESPACE_LABELS.items() if selects(term["namespaceSelector"], labels)]
    return out


Pairs = dict[tuple[str, str], int]


def add(pairs: Pairs, node: Manifest, key: str, number: int) -> None:
    if key in node["labels"]:
        pair = (key, node["labels"][key])
        pairs[pair] = pairs.get(pair, 0) + number
        if pairs[pair] == 0:
            del pairs[pair]


class Filtering:
    """kube's preFilterState."""

    def __init__(self, world: World, pod: Manifest) -> None:
        self.pod = merged(pod)
        self.namespace_labels = NAMESPACE_LABELS.get(pod["metadata"]["namespace"], {})
        self.existing: Pairs = {}
        self.affinity: Pairs = {}
        self.anti: Pairs = {}
        for node in world.nodes:
            for there in world.on(node["name"]):
                self.update(there, node, 1)

    def update(self, other: Manifest, node: Manifest, sign: int) -> None:
        for term in required(other, "podAntiAffinity"):
            if matches(term, other, self.pod, self.namespace_labels):
                add(self.existing, node, term["topologyKey"], sign)
        if self.all_match(other):
            for term in required(self.pod, "podAffinity"):
                add(self.affinity, node, term["topologyKey"], sign)
        for term in required(self.pod, "podAntiAffinity"):
            if matches(term, self.pod, other, {}):
                add(self.anti, node, term["topologyKey"], sign)

    def all_match(self, other: Manifest) -> bool:
        mine = required(self.pod, "podAffinity")
        return bool(mine) and all(matches(term, self.pod, other, {}) for term in mine)

    @property
    def skips(self) -> bool:
        own = required(self.pod, "podAffinity") or required(self.pod, "podAntiAffinity")
        return not own and not self.existing

    def verdict(self, node: Manifest) -> str | None:
        labels = node["labels"]
        near = True
        for term in required(self.pod, "podAffinity"):
            if term["topologyKey"] not in labels:
                return AFFINITY
            near = near and self.affinity.get((term["topologyKey"], labels[term["topologyKey"]]), 0) > 0
        if not near and (self.affinity or not self.all_match(self.pod)):
            return AFFINITY
        for term in required(self.pod, "podAntiAffinity"):
            if self.anti.get((term["topologyKey"], labels.get(term["topologyKey"], "absent")), 0) > 0:
                return OWN_ANTI
        if any(self.existing.get(pair, 0) > 0 for pair in labels.items()):
            return EXISTING_ANTI
        return None


def topology_scores(world: World, pod: Manifest, hard: int, *, ignore: bool) -> dict[str, dict[str, int]] | None:
    """kube's topologyScore; None where PreScore skips."""
    pod = merged(pod)
    own = preferred(pod, "podAffinity") or preferred(pod, "podAntiAffinity")
    if ignore and not own:
        return None
    namespace_labels = NAMESPACE_LABELS.get(pod["metadata"]["namespace"], {})
    out: dict[str, dict[str, int]] = {}

    def process(term: Manifest, owner: Manifest, target: Manifest, labels: dict[str, str], weight: int) -> None:
        key = term["topologyKey"]
        if matches(term, owner, target, labels) and key in node["labels"]:
            values = out.setdefault(key, {})
            values[node["labels"][key]] = values.get(node["labels"][key], 0) + weight

    for node in world.nodes:
        for there in world.on(node["name"]):
            for sign, kind in ((1, "podAffinity"), (-1, "podAntiAffinity")):
                for weight, term in preferred(pod, kind):
                    process(term, pod, there, {}, sign * weight)
                for weight, term in preferred(there, kind):
                    process(term, there, pod, namespace_labels, sign * weight)
            for term in required(there, "podAffinity") if hard > 0 else []:
                process(term, there, pod, namespace_labels, hard)
    return out or None


def score(node: Manifest, scores: dict[str, dict[str, int]]) -> int:
    return sum(values.get(node["labels"].get(key, "absent"), 0) for key, values in scores.items())


def normalised(scores: list[int]) -> list[int]:
    low, high = min(scores), max(scores)
    return [int(100.0 * (float(s - low) / float(high - low))) if high > low else 0 for s in scores]


# The comparisons


def started(world: World, manifest: Manifest, **args: Any) -> tuple[Plugin, NodeTable, Pod, CycleState]:
    plugin = make_plugin("InterPodAffinity", args, Namespaces())
    return plugin, world.table(), Pod.from_manifest(manifest), CycleState()


def verdicts(plugin: Plugin, state: CycleState, pod: Pod, table: NodeTable) -> list[str | None]:
    found = plugin.filter(state, pod, table, all_rows(table))
    if found is None:
        return [None] * len(table)
    return [None if r < 0 else found.statuses[r].message for r in found.reason.tolist()]


@given(worlds(specs()), incoming())
@settings(max_examples=40)
def test_required_terms_are_judged_as_node_by_node(world: World, manifest: Manifest) -> None:
    plugin, table, pod, state = started(world, manifest)
    by_name = {node["name"]: node for node in world.nodes}
    reference = Filtering(world, manifest)
    skipped = plugin.pre_filter(state, pod, table).status.skipped
    assert skipped is reference.skips
    if not skipped:
        assert verdicts(plugin, state, pod, table) == [reference.verdict(by_name[n]) for n in table.names]


@given(worlds(plain_specs, alike=True), plain_incoming, st.data())
@settings(max_examples=150)
def test_what_ifs_are_judged_as_on_a_state_of_each_nodes_own(
    world: World, manifest: Manifest, data: st.DataObject
) -> None:
    plugin, table, pod, state = started(world, manifest)
    if plugin.pre_filter(state, pod, table).status.skipped:
        return
    by_name = {node["name"]: node for node in world.nodes}
    rows = {name: row for row, name in enumerate(table.names)}
    drawn = data.draw(changes(world, plain_specs))
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


@given(worlds(specs()), incoming(), st.sampled_from((0, 1, 5)), st.booleans(), st.data())
@settings(max_examples=40)
def test_preferences_are_scored_as_node_by_node(
    world: World, manifest: Manifest, hard: int, ignore: bool, data: st.DataObject
) -> None:
    args = {"hardPodAffinityWeight": hard, "ignorePreferredTermsOfExistingPods": ignore}
    plugin, table, pod, state = started(world, manifest, **args)
    by_name = {node["name"]: node for node in world.nodes}
    chosen = sorted(data.draw(st.sets(st.integers(0, len(table) - 1), min_size=1)))
    rows = np.array(chosen, np.intp)
    expected = topology_scores(world, manifest, hard, ignore=ignore)
    status = plugin.pre_score(state, pod, table, rows)
    assert status.skipped is (expected is None)
    if expected is None:
        return
    scores = plugin.score(state, pod, table, rows)
    assert isinstance(scores, np.ndarray)
    plain = [score(by_name[table.names[row]], expected) for row in chosen]
    assert scores.tolist() == plain
    assert plugin.normalize(state, pod, table, rows, scores).tolist() == normalised(plain)


@given(worlds(specs()), incoming())
@settings(max_examples=30)
def test_the_figures_for_people_agree_with_the_verdict(world: World, manifest: Manifest) -> None:
    plugin, table, pod, state = started(world, manifest)
    if plugin.pre_filter(state, pod, table).status.skipped:
        return
    for row, verdict in enumerate(verdicts(plugin, state, pod, table)):
        rules = state.read("PreFilterInterPodAffinity")
        matched = [term_figures(table, row, term).pods for term in rules.anti_terms]
        existing = [found.pods for found in repelling(rules, table, row)]
        if verdict == OWN_ANTI:
            assert any(matched)
        elif verdict == EXISTING_ANTI:
            assert existing and existing[0]
        elif verdict is None:
            assert not any(matched) and not existing
