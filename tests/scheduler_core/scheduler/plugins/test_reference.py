"""The vectorised plugins against a plain reading of kube's rules, one node at a time, on generated clusters."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.status import Status
from scheduler_core.testing.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_table, term
from tests.support.drive import filter_nodes, make_plugin, score_nodes

KEYS, VALUES = ("k1", "k2", "k3"), ("", "1", "2", "10")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
GPU = "example.com/gpu"


def subset(names: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), max_size=3, unique=True)


def texts(found: dict[str, Status | None]) -> list[tuple[str, ...] | None]:
    return [None if status is None else (status.code.kube_name, *status.reasons) for status in found.values()]


def table(nodes: list[NodeBuilder], pods: list[PodBuilder] | None = None) -> NodeTable:
    return make_table(nodes, pods or [])


# Taints

taints = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(EFFECTS), st.sampled_from(VALUES)), max_size=3)
tolerations = st.lists(
    st.tuples(
        st.sampled_from(("", *KEYS)),
        st.sampled_from(("", *EFFECTS)),
        st.sampled_from(VALUES),
        st.sampled_from(("Exists", "Equal")),
    ),
    max_size=3,
)


def tolerates(toleration: tuple[str, str, str, str], taint: tuple[str, str, str]) -> bool:
    key, effect, value, operator = toleration
    if effect and effect != taint[1]:
        return False
    if key and key != taint[0]:
        return False
    return operator == "Exists" or value == taint[2]


@given(st.lists(taints, min_size=1, max_size=6), tolerations)
def test_taints_are_judged_as_one_by_one(clusters: list[Any], tolerated: list[Any]) -> None:
    nodes = []
    for i, mine in enumerate(clusters):
        node = make_node(f"n{i}")
        for key, effect, value in mine:
            node = node.taint(key, effect, value)
        nodes.append(node)
    pod = make_pod("p")
    for key, effect, value, operator in tolerated:
        pod = pod.tolerates(key, effect, value, operator)
    expected, counts = [], []
    for mine in clusters:
        hard = [t for t in mine if t[1] != "PreferNoSchedule" and not any(tolerates(x, t) for x in tolerated)]
        text = f"node(s) had untolerated taint {{{hard[0][0]}: {hard[0][2]}}}" if hard else ""
        expected.append(("UnschedulableAndUnresolvable", text) if hard else None)
        soft = [x for x in tolerated if x[1] in ("", "PreferNoSchedule")]
        counts.append(sum(t[1] == "PreferNoSchedule" and not any(tolerates(x, t) for x in soft) for t in mine))
    plugin, snapshot = make_plugin("TaintToleration"), table(nodes)
    assert texts(filter_nodes(plugin, pod.pod(), snapshot)) == expected
    assert list((score_nodes(plugin, pod.pod(), snapshot) or {}).values()) == counts


# Node affinity

labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)


@st.composite
def requirements(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...]]:
    operator = draw(st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")))
    if operator in ("Exists", "DoesNotExist"):
        values: list[str] = []
    elif operator in ("Gt", "Lt"):
        values = [draw(st.sampled_from(("0", "1", "5")))]
    else:
        values = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=2))
    return draw(st.sampled_from(KEYS)), operator, tuple(values)


terms = st.lists(requirements(), max_size=2)


def holds(requirement: tuple[str, str, tuple[str, ...]], mine: dict[str, str]) -> bool:
    key, operator, values = requirement
    if operator in ("Exists", "DoesNotExist"):
        return (key in mine) is (operator == "Exists")
    if key not in mine:
        return operator == "NotIn"
    if operator in ("In", "NotIn"):
        return (mine[key] in values) is (operator == "In")
    if not mine[key]:
        return False
    return int(mine[key]) > int(values[0]) if operator == "Gt" else int(mine[key]) < int(values[0])


def matches(wanted: list[Any], mine: dict[str, str]) -> bool:
    return bool(wanted) and all(holds(requirement, mine) for requirement in wanted)


@given(
    st.lists(labels, min_size=1, max_size=6),
    labels,
    st.lists(terms, min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(1, 100), terms), min_size=1, max_size=3),
)
def test_node_affinity_is_judged_as_one_by_one(
    clusters: list[dict[str, str]], selector: dict[str, str], required: list[Any], preferred: list[Any]
) -> None:
    nodes = []
    for i, mine in enumerate(clusters):
        node = make_node(f"n{i}")
        for key, value in mine.items():
            node = node.label(key, value)
        nodes.append(node)
    pod = make_pod("p").selector(selector).requires(*(term(*wanted) for wanted in required))
    pod = pod.prefers(*((weight, term(*wanted)) for weight, wanted in preferred))
    fits = [
        all(mine.get(key) == value for key, value in selector.items()) and any(matches(t, mine) for t in required)
        for mine in clusters
    ]
    sums = [sum(weight for weight, wanted in preferred if matches(wanted, mine)) for mine in clusters]
    plugin, snapshot = make_plugin("NodeAffinity"), table(nodes)
    found = filter_nodes(plugin, pod.pod(), snapshot)
    assert [status is None for status in found.values()] == fits
    assert list((score_nodes(plugin, pod.pod(), snapshot) or {}).values()) == sums


# Resources

amounts = st.fixed_dictionaries(
    {}, optional={"cpu": st.integers(0, 6000), "memory": st.integers(0, 2**33), GPU: st.integers(0, 4)}
)


def written(mine: dict[str, int]) -> dict[str, str]:
    return {name: f"{n}m" if name == "cpu" else str(n) for name, n in mine.items()}


def cluster(capacity: list[dict[str, int]], used: list[dict[str, int]]) -> NodeTable:
    nodes = [make_node(f"n{i}").capacity(written(mine)) for i, mine in enumerate(capacity)]
    pods = [make_pod(f"o{i}").requests(written(mine)).on(f"n{i % len(nodes)}") for i, mine in enumerate(used)]
    return table(nodes, pods)


def full(mine: dict[str, int]) -> dict[str, int]:
    """A node's capacity with the builder's defaults."""
    return {"cpu": 4000, "memory": 8 * 2**30, GPU: 0, **mine}


def requested(used: list[dict[str, int]], node: int, nodes: int, name: str, default: int = 0) -> int:
    return sum(mine.get(name, default) for i, mine in enumerate(used) if i % nodes == node)


NODES = st.lists(amounts, min_size=1, max_size=4)
PODS = st.lists(amounts, max_size=6)


@given(NODES, PODS, amounts)
def test_room_is_judged_as_one_by_one(
    capacity: list[dict[str, int]], used: list[dict[str, int]], wanted: dict[str, int]
) -> None:
    expected: list[tuple[str, ...] | None] = []
    for node, mine in enumerate(map(full, capacity)):
        lacking = [
            name
            for name in ("cpu", "memory", GPU)
            if wanted.get(name, 0) > 0 and wanted[name] > mine[name] - requested(used, node, len(capacity), name)
        ]
        hopeless = any(wanted[name] > mine[name] for name in lacking)
        code = "UnschedulableAndUnresolvable" if hopeless else "Unschedulable"
        expected.append((code, *(f"Insufficient {name}" for name in lacking)) if lacking else None)
    pod = make_pod("p").requests(written(wanted)).pod()
    assert texts(filter_nodes(make_plugin("NodeResourcesFit"), pod, cluster(capacity, used))) == expected


DEFAULTS = {"cpu": 100, "memory": 200 * 2**20, GPU: 0}
points = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 10)), min_size=1, max_size=4, unique_by=lambda p: p[0])


def line(shape: list[tuple[int, int]], x: int) -> int:
    for i, (right, top) in enumerate(shape):
        if x <= right:
            if i == 0:
                return top * 10
            left, bottom = shape[i - 1]
            rise = (top - bottom) * 10 * (x - left)
            return bottom * 10 + math.trunc(Fraction(rise, right - left))
    return shape[-1][1] * 10


def strategy_score(kind: str, shape: list[tuple[int, int]], parts: list[tuple[int, int, int]]) -> int:
    """parts: (weight, requested, allocatable) of the resources that count."""
    total = weights = 0
    for weight, asked, has in parts:
        if kind == "LeastAllocated":
            mine = 0 if asked > has else (has - asked) * 100 // has
        elif kind == "MostAllocated":
            mine = min(asked, has) * 100 // has
        else:
            mine = line(shape, 100 if asked > has else asked * 100 // has)
            if mine <= 0:
                continue
        total, weights = total + mine * weight, weights + weight
    if not weights:
        return 0
    # float64 division, halves up: the sums are not negative
    return math.floor(total / weights + 0.5) if kind == "RequestedToCapacityRatio" else total // weights


@given(
    NODES,
    PODS,
    amounts,
    st.sampled_from(("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")),
    st.lists(st.integers(1, 100), min_size=3, max_size=3),
    points,
)
@settings(max_examples=200)
def test_strategies_score_as_one_by_one(
    capacity: list[dict[str, int]],
    used: list[dict[str, int]],
    wanted: dict[str, int],
    kind: str,
    weights: list[int],
    shape: list[tuple[int, int]],
) -> None:
    shape = sorted(shape)
    names = ("cpu", "memory", GPU)
    resources = [{"name": name, "weight": weight} for name, weight in zip(names, weights, strict=True)]
    ratio = {"shape": [{"utilization": x, "score": y} for x, y in shape]}
    args = {"scoringStrategy": {"type": kind, "resources": resources, "requestedToCapacityRatio": ratio}}
    expected = []
    for node, mine in enumerate(map(full, capacity)):
        parts = []
        for name, weight in zip(names, weights, strict=True):
            incoming = wanted.get(name, DEFAULTS[name])
            if mine[name] and (name != GPU or incoming):
                asked = requested(used, node, len(capacity), name, DEFAULTS[name]) + incoming
                parts.append((weight, asked, mine[name]))
        expected.append(strategy_score(kind, shape, parts))
    pod = make_pod("p").requests(written(wanted)).pod()
    found = score_nodes(make_plugin("NodeResourcesFit", args), pod, cluster(capacity, used))
    assert list((found or {}).values()) == expected


def deviation_score(shares: list[float]) -> int:
    if len(shares) < 2:
        return 100
    if len(shares) == 2:
        return int((1 - abs((shares[0] - shares[1]) / 2)) * 100.0)
    mean = sum(shares, 0.0) / float(len(shares))
    squares = 0.0
    for share in shares:
        squares = squares + (share - mean) * (share - mean)
    return int((1 - math.sqrt(squares / float(len(shares)))) * 100.0)


@given(NODES, PODS, amounts.filter(lambda mine: any(mine.values())))
def test_balance_scores_as_one_by_one(
    capacity: list[dict[str, int]], used: list[dict[str, int]], wanted: dict[str, int]
) -> None:
    names = ("cpu", "memory", GPU)
    args = {"resources": [{"name": name, "weight": 1} for name in names]}
    expected = []
    for node, mine in enumerate(map(full, capacity)):
        shares = [
            min((requested(used, node, len(capacity), name) + wanted.get(name, 0)) / mine[name], 1.0)
            for name in names
            if mine[name] and (name != GPU or wanted.get(name))
        ]
        expected.append(deviation_score(shares))
    pod = make_pod("p").requests(written(wanted)).pod()
    found = score_nodes(make_plugin("NodeResourcesBalancedAllocation", args), pod, cluster(capacity, used))
    assert list((found or {}).values()) == expected


# Ports

ports = st.tuples(
    st.sampled_from((80, 81)), st.sampled_from(("TCP", "UDP")), st.sampled_from((None, "10.0.0.1", "10.0.0.2"))
)


@given(st.lists(st.lists(ports, max_size=3), min_size=1, max_size=4), st.lists(ports, min_size=1, max_size=2))
def test_ports_are_judged_as_one_by_one(held: list[Any], wanted: list[Any]) -> None:
    nodes = [make_node(f"n{i}") for i in range(len(held))]
    pods = [
        make_pod(f"o{i}-{j}").host_port(*port).on(f"n{i}") for i, mine in enumerate(held) for j, port in enumerate(mine)
    ]
    pod = make_pod("p")
    for port in wanted:
        pod = pod.host_port(*port)
    free = [
        not any(a[:2] == b[:2] and (a[2] is None or b[2] is None or a[2] == b[2]) for a in wanted for b in mine)
        for mine in held
    ]
    found = filter_nodes(make_plugin("NodePorts"), pod.pod(), table(nodes, pods))
    assert [status is None for status in found.values()] == free


@given(st.lists(taints, min_size=2, max_size=6), st.data())
def test_a_plugin_answers_for_the_rows_asked_in_their_order(clusters: list[Any], data: st.DataObject) -> None:
    nodes = []
    for i, mine in enumerate(clusters):
        node = make_node(f"n{i}")
        for taint in mine:
            node = node.taint(*taint)
        nodes.append(node)
    snapshot, pod = table(nodes), make_pod("p").pod()
    plugin = make_plugin("TaintToleration")
    some = data.draw(st.permutations(range(len(nodes)))).copy()[: len(nodes) // 2 + 1]
    rows = np.array(some, np.intp)
    whole = filter_nodes(plugin, pod, snapshot)
    assert filter_nodes(plugin, pod, snapshot, rows) == {f"n{row}": whole[f"n{row}"] for row in some}
