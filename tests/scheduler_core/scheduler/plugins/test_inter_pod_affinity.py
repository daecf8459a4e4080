from collections.abc import Mapping
from typing import Any

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.framework.status import SKIP, Code, Status, unresolvable, unschedulable
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table
from tests.support.drive import NoObjects, all_rows, filter_nodes, make_plugin
from tests.support.explained import paragraphs, rows

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NO_AFFINITY = unresolvable("node(s) didn't match pod affinity rules")
OWN_ANTI = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
NODES = [make_node("a").zone("z1"), make_node("b").zone("z1"), make_node("c").zone("z2")]


class Namespaces(NoObjects):
    def __init__(self, **labels: dict[str, str]) -> None:
        super().__init__()
        self.labels = labels

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return {"metadata": {"name": name, "labels": self.labels[name]}} if name in self.labels else None

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        return [{"metadata": {"name": n, "labels": each}} for n, each in self.labels.items()]


def pod(name: str, app: str, namespace: str = "default") -> PodBuilder:
    return make_pod(name, namespace).labels({"app": app})


def term(app: str, key: str = ZONE, **more: Any) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}


def near(built: PodBuilder, *terms: dict[str, Any]) -> PodBuilder:
    return built.with_spec(affinity={"podAffinity": {REQUIRED: list(terms)}})


def apart(built: PodBuilder, *terms: dict[str, Any]) -> PodBuilder:
    return built.with_spec(affinity={"podAntiAffinity": {REQUIRED: list(terms)}})


def likes(built: PodBuilder, weight: int, wanted: dict[str, Any], kind: str = "podAffinity") -> PodBuilder:
    return built.with_spec(affinity={kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": wanted}]}})


def refusals(
    built: PodBuilder, pods: list[PodBuilder], handle: NoObjects | None = None, **more: Any
) -> dict[str, Status]:
    plugin = make_plugin("InterPodAffinity", None, handle)
    found = filter_nodes(plugin, built.pod(), make_table(more.get("nodes", NODES), pods))
    return {name: status for name, status in found.items() if status is not None}


def scores(built: PodBuilder, pods: list[PodBuilder], plugin: Plugin | None = None) -> Any:
    """Raw and normalised; None where the plugin skips."""
    plugin = plugin or make_plugin("InterPodAffinity")
    table, state = make_table(NODES, pods), CycleState()
    rows = all_rows(table)
    if plugin.pre_score(state, built.pod(), table, rows).skipped:
        return None
    raw = plugin.score(state, built.pod(), table, rows)
    assert not isinstance(raw, Status)
    scaled = plugin.normalize(state, built.pod(), table, rows, raw)
    return dict(zip(table.names, raw.tolist(), strict=True)), dict(zip(table.names, scaled.tolist(), strict=True))


def test_a_pod_that_no_term_is_about_is_skipped() -> None:
    plugin, state = make_plugin("InterPodAffinity"), CycleState()
    table = make_table(NODES, [apart(pod("x", "db"), term("db")).on("a")])
    assert plugin.pre_filter(state, pod("p", "web").pod(), table).status == SKIP
    assert plugin.pre_score(state, pod("p", "web").pod(), table, all_rows(table)) == SKIP


def test_affinity_wants_the_domain_of_a_match() -> None:
    assert refusals(near(pod("p", "web"), term("db")), [pod("x", "db").on("a")]) == {"c": NO_AFFINITY}


def test_one_existing_pod_has_to_match_all_terms() -> None:
    both = near(pod("p", "web"), term("db"), term("cache", HOSTNAME))
    assert set(refusals(both, [pod("x", "db").on("a"), pod("y", "cache").on("a")])) == {"a", "b", "c"}


def test_the_first_pod_of_a_group_may_start_anywhere_that_has_the_label() -> None:
    nodes = [*NODES, make_node("bare")]
    assert refusals(near(pod("p", "web"), term("web")), [], nodes=nodes) == {"bare": NO_AFFINITY}


def test_a_pod_that_does_not_match_its_own_terms_has_to_wait() -> None:
    assert set(refusals(near(pod("p", "web"), term("db")), [])) == {"a", "b", "c"}


def test_anti_affinity_keeps_away_from_the_domain() -> None:
    assert refusals(apart(pod("p", "web"), term("db")), [pod("x", "db").on("a")]) == {"a": OWN_ANTI, "b": OWN_ANTI}


def test_existing_pods_anti_affinity_is_symmetric() -> None:
    existing = apart(pod("x", "db"), term("web", HOSTNAME)).on("a")
    assert refusals(pod("p", "web"), [existing]) == {"a": EXISTING_ANTI}


def test_affinity_is_named_before_anti_affinity_and_own_before_existing() -> None:
    existing = apart(pod("x", "db"), term("web")).on("a")
    rules = {"podAffinity": {REQUIRED: [term("gone")]}, "podAntiAffinity": {REQUIRED: [term("db")]}}
    assert refusals(pod("p", "web").with_spec(affinity=rules), [existing])["a"] == NO_AFFINITY
    assert refusals(apart(pod("p", "web"), term("db")), [existing])["a"] == OWN_ANTI


def test_terms_are_about_the_pods_own_namespace_unless_they_name_others() -> None:
    there = [pod("x", "db", "other").on("a")]
    assert refusals(apart(pod("p", "web"), term("db")), there) == {}
    assert set(refusals(apart(pod("p", "web"), term("db", namespaces=["other"])), there)) == {"a", "b"}


def test_a_namespace_selector_selects_namespaces_by_their_labels() -> None:
    there, selector = [pod("x", "db", "other").on("a")], {"matchLabels": {"team": "x"}}
    incoming = apart(pod("p", "web"), term("db", namespaceSelector=selector))
    assert set(refusals(incoming, there, Namespaces(other={"team": "x"}))) == {"a", "b"}
    assert refusals(incoming, there, Namespaces(other={"team": "y"})) == {}


def test_an_empty_namespace_selector_selects_all() -> None:
    incoming = apart(pod("p", "web"), term("db", namespaceSelector={}))
    assert set(refusals(incoming, [pod("x", "db", "other").on("a")])) == {"a", "b"}


def test_an_incoming_terms_selector_of_absent_labels_selects_every_namespace() -> None:
    without = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    incoming = apart(pod("p", "web"), term("db", namespaceSelector=without))
    there = [pod("x", "db", "other").on("a")]
    assert set(refusals(incoming, there, Namespaces(other={"team": "x"}))) == {"a", "b"}


def test_existing_terms_ask_for_the_incoming_pods_namespace_labels() -> None:
    selector = {"matchLabels": {"team": "x"}}
    existing = apart(pod("x", "db", "other"), term("web", namespaceSelector=selector)).on("a")
    assert set(refusals(pod("p", "web"), [existing], Namespaces(default={"team": "x"}))) == {"a", "b"}
    assert refusals(pod("p", "web"), [existing], Namespaces(default={})) == {}


def test_terminating_pods_count() -> None:
    leaving = pod("x", "db").with_metadata(deletionTimestamp="2026-01-01T00:00:00Z").on("a")
    assert set(refusals(apart(pod("p", "web"), term("db")), [leaving])) == {"a", "b"}


def test_preferences_are_summed_by_domain_and_scaled_from_lowest_to_highest() -> None:
    found = scores(likes(pod("p", "web"), 5, term("db")), [pod("x", "db").on("a"), pod("y", "db").on("b")])
    assert found == ({"a": 10, "c": 0, "b": 10}, {"a": 100, "c": 0, "b": 100})


def test_disliked_pods_count_below_zero() -> None:
    raw, scaled = scores(likes(pod("p", "web"), 5, term("db"), "podAntiAffinity"), [pod("x", "db").on("c")])
    assert (raw["c"], scaled) == (-5, {"a": 100, "c": 0, "b": 100})


def test_existing_pods_required_affinity_counts_with_the_hard_weight() -> None:
    existing = [near(pod("x", "db"), term("web")).on("a")]
    plugin = make_plugin("InterPodAffinity", {"hardPodAffinityWeight": 7})
    assert scores(pod("p", "web"), existing, plugin)[0] == {"a": 7, "c": 0, "b": 7}
    assert scores(pod("p", "web"), existing, make_plugin("InterPodAffinity", {"hardPodAffinityWeight": 0})) is None


def test_existing_pods_preferences_can_be_ignored() -> None:
    existing = [likes(pod("x", "db"), 3, term("web")).on("a")]
    assert scores(pod("p", "web"), existing)[0]["a"] == 3
    plugin = make_plugin("InterPodAffinity", {"ignorePreferredTermsOfExistingPods": True})
    assert scores(pod("p", "web"), existing, plugin) is None


def test_weights_that_cancel_out_are_not_nothing() -> None:
    existing = [
        likes(pod("x", "db"), 3, term("web")).on("a"),
        likes(pod("y", "db"), 3, term("web"), "podAntiAffinity").on("a"),
    ]
    assert scores(pod("p", "web"), existing) == ({"a": 0, "c": 0, "b": 0}, {"a": 0, "c": 0, "b": 0})


def test_a_selector_that_can_not_be_parsed_refuses_the_pod() -> None:
    wrong = {"matchExpressions": [{"key": "app", "operator": "In", "values": []}]}
    built = near(pod("p", "web"), {"topologyKey": ZONE, "labelSelector": wrong}).pod()
    status = make_plugin("InterPodAffinity").pre_filter(CycleState(), built, make_table(NODES)).status
    assert status.code is Code.UNRESOLVABLE
    assert status.message.startswith("parsing pod: requiredAffinityTerms: ")


def test_it_explains_which_pods_match_and_which_keep_the_pod_away() -> None:
    plugin, state = make_plugin("InterPodAffinity"), CycleState()
    existing = [pod(f"x{i}", "db").on("a") for i in range(7)] + [apart(pod("y", "q"), term("web")).on("c")]
    table, incoming = make_table(NODES, existing), apart(pod("p", "web"), term("db")).pod()
    plugin.pre_filter(state, incoming, table)
    names = " ".join(f"default/x{i}" for i in range(5))
    assert rows(plugin.explain(state, incoming, table, table.rows["b"])) == [
        (f"anti-affinity app in (db) [{ZONE} = z1]", f"7 {names} +2", "bad")
    ]
    assert rows(plugin.explain(state, incoming, table, table.rows["c"])) == [
        (f"anti-affinity app in (db) [{ZONE} = z2]", "0"),
        (f"anti-affinity of an existing pod app in (web) [{ZONE} = z2]", "default/y", "bad"),
    ]


def test_it_explains_that_the_first_of_a_group_may_go_anywhere() -> None:
    plugin, state = make_plugin("InterPodAffinity"), CycleState()
    table, incoming = make_table(NODES), near(pod("p", "web"), term("web")).pod()
    plugin.pre_filter(state, incoming, table)
    explanation = plugin.explain(state, incoming, table, table.rows["a"])
    assert [p.startswith("No pod matches yet") for p in paragraphs(explanation)] == [True]
    assert rows(explanation) == [(f"affinity app in (web) [{ZONE} = z1]", "0", "bad")]
