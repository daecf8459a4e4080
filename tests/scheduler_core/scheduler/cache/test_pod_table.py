"""Pods by column: whatever happens, what is counted is what a count from nothing gives."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.affinity import AffinityTerms, affinity_terms
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.pod_classes import Measure, PodClass, TermsMeasure
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODES = ("a", "b", "c", "gone")
BLUE = Measure("blue", lambda pods: int(pods.labels.get("color") == "blue" and not pods.terminating))


def terms_of(terms: AffinityTerms) -> int:
    return len(terms.required_anti)


ANTI = TermsMeasure("anti", terms_of)


def pod(name: str, color: str, node: str, *, anti: bool = False, terminating: bool = False) -> PodBuilder:
    built = make_pod(name).labels({"color": color}).on(node)
    if anti:
        term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"color": color}}}
        built = built.with_spec(affinity={"podAntiAffinity": {REQUIRED: [term]}})
    if terminating:
        built = built.with_metadata(deletionTimestamp="2026-01-01T00:00:00Z")
    return built


def plain(table: NodeTable) -> tuple[list[int], list[int]]:
    """The two measures counted pod by pod."""
    blue = [sum(p.labels.get("color") == "blue" and not p.deleting for p in pods) for pods in table.pods]
    anti = [sum(terms_of(affinity_terms(p)) for p in pods) for pods in table.pods]
    return blue, anti


def counted(table: NodeTable) -> tuple[list[int], list[int]]:
    return table.pod_table.counts(BLUE).tolist(), table.pod_table.counts(ANTI).tolist()


def cache_of(nodes: tuple[str, ...]) -> Cache:
    cache = Cache()
    for name in nodes:
        cache.add_node(make_node(name).node())
    return cache


actions = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"),
            st.sampled_from("pqrst"),
            st.sampled_from(NODES),
            st.sampled_from(("blue", "red")),
            st.booleans(),
            st.booleans(),
        ),
        st.tuples(st.just("remove"), st.sampled_from("pqrst")),
        st.tuples(st.just("node"), st.sampled_from(NODES), st.booleans()),
        st.tuples(st.just("look")),
    ),
    max_size=30,
)


def act(cache: Cache, action: tuple[Any, ...]) -> None:
    match action:
        case ("put", name, node, color, anti, terminating):
            cache.add_pod(pod(name, color, node, anti=anti, terminating=terminating).pod())
        case ("remove", name) if f"default/{name}" in cache.where:
            cache.remove_pod(cache.where[f"default/{name}"][0])
        case ("node", name, True):
            cache.add_node(make_node(name).node())
        case ("node", name, False):
            cache.remove_node(make_node(name).node())


@given(actions)
def test_counts_follow_whatever_happens(happens: list[tuple[Any, ...]]) -> None:
    cache, table = cache_of(NODES[:3]), NodeTable()
    for action in happens:
        if action == ("look",):
            table = cache.update_snapshot(table)
            assert counted(table) == plain(table)
        else:
            act(cache, action)
    table = cache.update_snapshot(table)
    assert counted(table) == plain(table) == counted(cache.table())


@given(actions, actions)
@settings(max_examples=50)
def test_copies_of_cache_and_snapshot_go_their_own_ways(
    before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]
) -> None:
    cache, table = cache_of(NODES[:3]), NodeTable()
    for action in before:
        act(cache, action)
    table = cache.update_snapshot(table)
    seen = counted(table)
    other_cache, other_table = cache.copy(), table.copy()
    for action in after:
        act(other_cache, action)
    other_table = other_cache.update_snapshot(other_table)
    assert counted(other_table) == plain(other_table)
    assert counted(table) == seen == plain(table)
    table = cache.update_snapshot(table)
    assert counted(table) == seen


def test_a_snapshot_stands_still_until_it_is_updated() -> None:
    cache = cache_of(NODES[:3])
    table = cache.update_snapshot(NodeTable())
    cache.add_pod(pod("p", "blue", "b").pod())
    assert counted(table)[0] == [0, 0, 0]
    assert counted(cache.update_snapshot(table))[0] == [0, 1, 0]


def test_counts_once_handed_out_are_never_written_to() -> None:
    cache = cache_of(NODES[:3])
    cache.add_pod(pod("p", "blue", "a").pod())
    table = cache.update_snapshot(NodeTable())
    first = table.pod_table.counts(BLUE)
    cache.add_pod(pod("q", "blue", "a").pod())
    table = cache.update_snapshot(table)
    assert (first[0], table.pod_table.counts(BLUE)[0]) == (1, 2)


def test_a_class_is_asked_once_however_many_pods_it_has() -> None:
    asked: list[PodClass] = []

    def ask(pods: PodClass) -> int:
        asked.append(pods)
        return 1

    cache = cache_of(NODES[:3])
    for i in range(20):
        cache.add_pod(pod(f"p{i}", "blue", "a").pod())
    table = cache.update_snapshot(NodeTable())
    measure = Measure("asking", ask)
    assert table.pod_table.counts(measure).tolist() == [20, 0, 0]
    cache.add_pod(pod("more", "blue", "b").pod())
    assert cache.update_snapshot(table).pod_table.counts(measure).tolist() == [20, 1, 0]
    assert [each.labels for each in asked if each.labels] == [{"color": "blue"}]


def test_measures_that_agree_on_all_terms_share_their_counts() -> None:
    cache = cache_of(NODES[:3])
    cache.add_pod(pod("p", "blue", "a", anti=True).pod())
    table = cache.update_snapshot(NodeTable()).pod_table
    other = TermsMeasure("anti of another pod", terms_of)
    assert table.counts(ANTI) is table.counts(other)
    assert not table.counts(TermsMeasure("nothing", lambda terms: 0)).any()


def test_many_changes_between_two_counts_are_counted_anew() -> None:
    cache = cache_of(NODES[:3])
    table = cache.update_snapshot(NodeTable())
    assert counted(table)[0] == [0, 0, 0]
    for i in range(5000):
        cache.add_pod(pod(f"p{i % 7}", "blue", NODES[i % 3]).pod())
        table = cache.update_snapshot(table)
    assert counted(table) == plain(table)


def test_priority_and_start_time_are_columns_too() -> None:
    cache = cache_of(NODES[:3])
    started = pod("p", "blue", "b").with_spec(priority=7).manifest()
    started["status"]["startTime"] = "2026-01-01T00:00:00Z"
    cache.add_pod(PodBuilder(started).pod())
    table = cache.update_snapshot(NodeTable()).pod_table
    place = int(np.flatnonzero(table.cls)[0])
    found = table.pods[place]
    assert found is not None
    assert (found.key, int(table.node[place]), int(table.priority[place])) == ("default/p", 1, 7)
    assert int(table.start[place]) == found.start_time
