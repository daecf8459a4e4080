from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.framework.status import SKIP, Code, Status, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.podtopologyspread.explanation import figures
from scheduler_core.testing.builders import NodeBuilder, PodBuilder, make_node, make_pod, make_table
from tests.support.drive import NoObjects, all_rows, filter_nodes, make_plugin
from tests.support.explained import paragraphs, rows

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
UNEVEN = unschedulable("node(s) didn't match pod topology spread constraints")
NO_LABEL = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")

NODES = [make_node("a").zone("z1"), make_node("b").zone("z1"), make_node("c").zone("z2")]


class Objects(NoObjects):
    """A handle that knows a few objects."""

    def __init__(self, *objects: Mapping[str, Any]) -> None:
        super().__init__()
        self.objects = objects

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        found = [each for each in self.list(kind) if each["metadata"]["name"] == name]
        return found[0] if found else None

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return [each for each in self.objects if each["kind"] == kind]


def web(name: str) -> PodBuilder:
    return make_pod(name).labels({"app": "web"})


def spread(pod: PodBuilder, action: str = "DoNotSchedule", **fields: Any) -> PodBuilder:
    constraint = {
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": action,
        "labelSelector": {"matchLabels": {"app": "web"}},
        **fields,
    }
    return pod.with_spec(topologySpreadConstraints=[constraint])


def refusals(pod: PodBuilder, pods: list[PodBuilder], nodes: list[NodeBuilder] | None = None) -> dict[str, Any]:
    found = filter_nodes(make_plugin("PodTopologySpread"), pod.pod(), make_table(nodes or NODES, pods))
    return {name: status for name, status in found.items() if status is not None}


def scores(
    pod: PodBuilder, pods: list[PodBuilder], plugin: Plugin, nodes: list[NodeBuilder] | None = None
) -> tuple[dict[str, int], dict[str, int]] | None:
    """Raw and normalised; None where the plugin skips."""
    table, state = make_table(nodes or NODES, pods), CycleState()
    rows = all_rows(table)
    if plugin.pre_score(state, pod.pod(), table, rows).skipped:
        return None
    raw = plugin.score(state, pod.pod(), table, rows)
    assert not isinstance(raw, Status)
    scaled = plugin.normalize(state, pod.pod(), table, rows, raw)
    return dict(zip(table.names, raw.tolist(), strict=True)), dict(zip(table.names, scaled.tolist(), strict=True))


def test_a_pod_without_constraints_is_skipped() -> None:
    plugin, state, table = make_plugin("PodTopologySpread"), CycleState(), make_table(NODES)
    assert plugin.pre_filter(state, web("p").pod(), table).status == SKIP
    assert plugin.pre_score(state, web("p").pod(), table, all_rows(table)) == SKIP


def test_a_zone_that_is_ahead_by_max_skew_refuses_one_more() -> None:
    assert refusals(spread(web("p")), [web("x").on("a")]) == {"a": UNEVEN, "b": UNEVEN}


def test_a_node_without_the_key_can_not_be_helped_by_preemption() -> None:
    assert refusals(spread(web("p")), [], [*NODES, make_node("bare")]) == {"bare": NO_LABEL}


def test_pods_of_another_namespace_and_terminating_ones_are_not_counted() -> None:
    gone = web("x").with_metadata(deletionTimestamp="2026-01-01T00:00:00Z").on("a")
    assert refusals(spread(web("p")), [gone, make_pod("y", "other").labels({"app": "web"}).on("a")]) == {}


def test_fewer_domains_than_min_domains_make_the_minimum_zero() -> None:
    everywhere = [web("x").on("a"), web("y").on("c")]
    assert refusals(spread(web("p"), minDomains=2), everywhere) == {}
    assert set(refusals(spread(web("p"), minDomains=3), everywhere)) == {"a", "b", "c"}


def test_an_empty_selector_counts_nothing() -> None:
    assert refusals(spread(web("p"), labelSelector={}), [web("x").on("a"), web("y").on("a")]) == {}


def test_the_scheduler_merges_match_label_keys_itself() -> None:
    pod = spread(make_pod("p").labels({"app": "web", "hash": "new"}), matchLabelKeys=["hash"])
    old = make_pod("x").labels({"app": "web", "hash": "old"}).on("a")
    new = make_pod("y").labels({"app": "web", "hash": "new"}).on("a")
    assert refusals(pod, [old]) == {}
    assert set(refusals(pod, [new])) == {"a", "b"}


def test_nodes_that_the_selector_excludes_count_unless_told_to_ignore_it() -> None:
    nodes = [*NODES, make_node("d").zone("z3").label("disk", "ssd"), make_node("e").zone("z1").label("disk", "ssd")]
    picky = web("p").selector({"disk": "ssd"})
    pods = [web("x").on("a"), web("y").on("d")]
    assert set(refusals(spread(picky), pods, nodes)) == {"d"}
    assert set(refusals(spread(picky, nodeAffinityPolicy="Ignore"), pods, nodes)) == {"a", "b", "d", "e"}


def test_tainted_nodes_count_unless_taints_are_honored() -> None:
    nodes = [make_node("a").zone("z1"), make_node("b").zone("z2").taint("k", "NoSchedule")]
    assert set(refusals(spread(web("p")), [web("x").on("a")], nodes)) == {"a"}
    assert refusals(spread(web("p"), nodeTaintsPolicy="Honor"), [web("x").on("a")], nodes) == {}


def test_the_emptier_zone_scores_best() -> None:
    found = scores(spread(web("p"), "ScheduleAnyway"), [web("x").on("a")], make_plugin("PodTopologySpread"))
    assert found == ({"a": 1, "c": 0, "b": 1}, {"a": 0, "c": 100, "b": 0})


def test_a_node_without_the_key_scores_nothing() -> None:
    nodes = [*NODES, make_node("bare")]
    pods = [web("x").on("a")]
    found = scores(spread(web("p"), "ScheduleAnyway"), pods, make_plugin("PodTopologySpread"), nodes)
    assert found is not None and found[1]["bare"] == 0


SERVICE = {"kind": "Service", "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
OWNERS = {
    "ReplicaSet": {"selector": {"matchLabels": {"app": "web"}}},
    "StatefulSet": {"selector": {"matchLabels": {"app": "web"}}},
    "ReplicationController": {"selector": {"app": "web"}},
}


def test_system_defaults_spread_a_service_over_hosts_and_zones() -> None:
    found = scores(web("p"), [web("x").on("a")], make_plugin("PodTopologySpread", {}, Objects(SERVICE)))
    assert found is not None and found[0]["a"] > found[0]["b"] > found[0]["c"]


def test_system_defaults_prefer_a_node_without_a_zone() -> None:
    nodes = [*NODES, make_node("bare")]
    plugin = make_plugin("PodTopologySpread", {}, Objects(SERVICE))
    one_each = [web(f"on-{name}").on(name) for name in ("a", "b", "c", "bare")]
    found = scores(web("p"), one_each, plugin, nodes)
    assert found is not None and found[0]["bare"] < found[0]["c"]


def test_a_service_of_another_namespace_selects_nothing() -> None:
    other = {**SERVICE, "metadata": {"name": "web", "namespace": "other"}}
    assert scores(web("p"), [web("x").on("a")], make_plugin("PodTopologySpread", {}, Objects(other))) is None


@pytest.mark.parametrize("kind", list(OWNERS))
def test_the_controllers_selector_counts_too(kind: str) -> None:
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    owner = {"apiVersion": version, "kind": kind, "name": "web", "controller": True}
    known = Objects({"kind": kind, "metadata": {"name": "web", "namespace": "default"}, "spec": OWNERS[kind]})
    pod = web("p").with_metadata(ownerReferences=[owner])
    found = scores(pod, [web("x").on("a")], make_plugin("PodTopologySpread", {}, known))
    assert found is not None and found[0]["a"] > found[0]["c"]


def test_a_list_of_defaults_takes_the_place_of_the_systems() -> None:
    hard = {"topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    args = {"defaultingType": "List", "defaultConstraints": [hard]}
    plugin = make_plugin("PodTopologySpread", args, Objects(SERVICE))
    found = filter_nodes(plugin, web("p").pod(), make_table(NODES, [web("x").on("a")]))
    assert found == {"a": UNEVEN, "c": None, "b": UNEVEN}
    assert scores(web("p"), [web("x").on("a")], plugin) is None


def test_constraints_of_its_own_put_the_defaults_out_of_force() -> None:
    plugin = make_plugin("PodTopologySpread", {}, Objects(SERVICE))
    assert scores(spread(web("p")), [web("x").on("a")], plugin) is None


def test_a_selector_that_can_not_be_parsed_is_an_internal_error() -> None:
    wrong = {"matchExpressions": [{"key": "app", "operator": "In", "values": []}]}
    pod = spread(web("p"), labelSelector=wrong).pod()
    status = make_plugin("PodTopologySpread").pre_filter(CycleState(), pod, make_table(NODES)).status
    assert status.code is Code.ERROR
    assert status.message.startswith("get constraints from pod: obtaining pod's hard topology spread constraints:")


def test_it_explains_the_counts_and_the_skew() -> None:
    table, state, plugin = (make_table(NODES, [web("x").on("a")]), CycleState(), make_plugin("PodTopologySpread"))
    pod = spread(web("p")).pod()
    plugin.pre_filter(state, pod, table)
    (found,) = figures(state.read("PreFilterPodTopologySpread"), table.rows["a"])
    assert (found.domain, found.minimum, found.skew, found.count) == ("z1", 0, 2, 2)
    explanation = plugin.explain(state, pod, table, table.rows["a"])
    assert paragraphs(explanation) == [f"{ZONE} maxSkew 1 · global minimum 0 · app in (web)"]
    assert rows(explanation) == [("z1 [this node] 100%", "1", "2 > 1", "bad"), ("z2 0%", "0", "1")]
