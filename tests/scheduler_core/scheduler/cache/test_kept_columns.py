"""Scores that are kept from cycle to cycle: whatever happens to the rows, they are what all rows computed anew give."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache import table as tables
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change, change_rows
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.testing.builders import make_node, make_pod
from tests.support.drive import NoObjects, all_rows, make_plugin

GPU, FOREIGN = "example.com/gpu", "example.com/foreign"
NODES = ("a", "b", "c")
SHAPES: tuple[dict[str, str], ...] = (
    {"cpu": "4", "memory": "8Gi", GPU: "3"},
    {"cpu": "3", "memory": "0", GPU: "0"},
    {"cpu": "7", "memory": "9Gi"},
)
LOADS: tuple[dict[str, str], ...] = (
    {"cpu": "300m", "memory": "1Gi"},
    {"cpu": "1", GPU: "1"},
    {"memory": "333Mi", GPU: "2"},
    {"cpu": "1", "memory": "8191Pi"},
    {},
)
RESOURCES: tuple[tuple[str, ...], ...] = (("cpu", "memory"), ("cpu", "memory", GPU), ("memory",), (FOREIGN, "cpu", GPU))


class Newer(NoObjects):
    """A release that scores by the change of balance."""

    features = Features(behaviors=frozenset({Behavior.BALANCE_BY_CHANGE}))


def plugins() -> list[Plugin]:
    return [
        make_plugin(
            "NodeResourcesBalancedAllocation", {"resources": [{"name": name, "weight": 1} for name in names]}, handle
        )
        for names in RESOURCES
        for handle in (NoObjects(), Newer())
    ]


def pod(name: str, load: int, node: str = "") -> Pod:
    built = make_pod(name).requests(LOADS[load])
    return (built.on(node) if node else built).pod()


def scores(asked: list[Plugin], nodes: NodeTable) -> list[list[int]]:
    rows, state = all_rows(nodes), CycleState()
    return [
        np.asarray(plugin.score(state, pod("asked", load), nodes, rows)).tolist()
        for plugin in asked
        for load in range(len(LOADS))
    ]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("pqrstuvw"), st.integers(0, 4), st.sampled_from(NODES)),
        st.tuples(st.just("remove"), st.sampled_from("pqrstuvw")),
        st.tuples(st.just("node"), st.sampled_from(NODES), st.integers(0, 2)),
        st.tuples(st.just("look")),
        st.tuples(st.just("fork")),
    ),
    max_size=30,
)


def act(cache: Cache, action: tuple[Any, ...]) -> None:
    match action:
        case ("put", name, load, node):
            cache.add_pod(pod(name, load, node))
        case ("remove", name) if f"default/{name}" in cache.where:
            cache.remove_pod(cache.where[f"default/{name}"][0])
        case ("node", name, shape):
            cache.add_node(make_node(name).capacity(SHAPES[shape]).node())


@given(actions)
@settings(max_examples=60)
def test_kept_scores_follow_whatever_happens(happens: list[tuple[Any, ...]]) -> None:
    cache, table, asked = Cache(), NodeTable(), plugins()
    for i, name in enumerate(NODES):
        cache.add_node(make_node(name).capacity(SHAPES[i]).node())
    for action in [*happens, ("look",)]:
        if action == ("fork",):
            cache, table = cache.copy(), table.copy()
        elif action == ("look",):
            table = cache.update_snapshot(table)
            assert scores(asked, table) == scores(asked, cache.table())
        else:
            act(cache, action)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=12))
@settings(max_examples=30)
def test_a_what_if_computes_the_rows_that_it_changes(added: list[tuple[int, int]]) -> None:
    asked, cache = plugins(), Cache()
    for i, name in enumerate(NODES):
        cache.add_node(make_node(name).capacity(SHAPES[i]).node())
    table = cache.update_snapshot(NodeTable())
    before, view = scores(asked, table), table.copy()
    scores(asked, view)
    change_rows(view, [Change(row, pod(f"p{i}", load), 1) for i, (row, load) in enumerate(added)])
    assert scores(asked, view) == scores(asked, view.copy())
    assert scores(asked, table) == before


def test_rows_are_computed_when_they_are_asked_for_and_again_when_they_change() -> None:
    table, asked = make_table(), []

    def compute(nodes: NodeTable, rows: Any, about: str) -> Any:
        asked.append(rows.tolist())
        return rows * 10

    def ask(*rows: int) -> list[int]:
        return table.keep(np.array(rows, np.intp), "tenfold", compute, lambda nodes, row, about: -row, "about").tolist()

    assert ask(2, 0) == [20, 0] and ask(0, 2) == [0, 20] and asked == [[2, 0]]
    table.note_changed(2)
    assert ask(2, 1) == [-2, 10] and ask(1, 2) == [10, -2] and asked[1:] == [[1]]


def make_table() -> NodeTable:
    cache = Cache()
    for name in NODES:
        cache.add_node(make_node(name).node())
    return cache.update_snapshot(NodeTable())


def test_the_number_of_kept_columns_is_limited() -> None:
    table = make_table()
    for key in range(3 * tables.MOST_KEPT):
        table.keep(all_rows(table), "rows", lambda nodes, rows, about: rows, lambda nodes, row, about: row, key)
    assert len(table._kept) <= tables.MOST_KEPT
