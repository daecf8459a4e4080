from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import PreFilterResult
from scheduler_core.scheduler.framework.status import SKIP, Code, unresolvable
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table, term
from tests.support.drive import all_rows, filter_nodes, make_plugin, normalize_node_scores, score_nodes
from tests.support.explained import rows

NODES = make_table(
    [
        make_node("a").label("disk", "ssd").label("size", "3"),
        make_node("b").label("disk", "hdd").label("size", "10"),
        make_node("c"),
    ]
)
REFUSED = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
NAME = "metadata.name"


def passing(pod: PodBuilder, args: dict[str, object] | None = None) -> list[str]:
    found = filter_nodes(make_plugin("NodeAffinity", args), pod.pod(), NODES)
    return [name for name, status in found.items() if status is None]


def pre_filter(pod: PodBuilder) -> PreFilterResult:
    return make_plugin("NodeAffinity").pre_filter(CycleState(), pod.pod(), NODES)


def test_a_pod_without_selectors_is_skipped() -> None:
    assert pre_filter(make_pod("p")).status == SKIP


def test_a_node_selector_wants_all_its_labels() -> None:
    pod = make_pod("p").selector({"disk": "ssd"})
    assert passing(pod) == ["a"]
    assert filter_nodes(make_plugin("NodeAffinity"), pod.pod(), NODES)["b"] == REFUSED


def test_expressions_of_a_term_are_anded_and_terms_are_ored() -> None:
    both = term(("disk", "In", ("ssd", "hdd")), ("size", "Gt", ("5",)))
    assert passing(make_pod("p").requires(both)) == ["b"]
    assert passing(make_pod("p").requires(both, term(("disk", "DoesNotExist", ())))) == ["b", "c"]


def test_not_in_matches_a_node_without_the_label() -> None:
    assert passing(make_pod("p").requires(term(("disk", "NotIn", ("ssd",))))) == ["b", "c"]


def test_an_empty_term_matches_no_node() -> None:
    assert passing(make_pod("p").requires(term())) == []


def test_a_negative_bound_never_matches() -> None:
    assert passing(make_pod("p").requires(term(("size", "Gt", ("-1",))))) == []


def test_terms_that_all_name_nodes_narrow_the_search() -> None:
    pod = make_pod("p").requires(
        term(fields=[(NAME, "In", ("a",))]), term(("disk", "Exists", ()), fields=[(NAME, "In", ("c",))])
    )
    assert pre_filter(pod).node_names == frozenset({"a", "c"})
    assert passing(pod) == ["a"]


def test_one_term_without_a_name_leaves_all_nodes_in_the_search() -> None:
    pod = make_pod("p").requires(term(fields=[(NAME, "In", ("a",))]), term(("disk", "Exists", ())))
    assert pre_filter(pod) == PreFilterResult()


def test_names_that_exclude_each_other_are_a_conflict() -> None:
    pod = make_pod("p").requires(term(fields=[(NAME, "In", ("a",)), (NAME, "In", ("b",))]))
    assert pre_filter(pod).status == unresolvable("pod affinity terms conflict")


def test_a_name_can_be_excluded() -> None:
    assert passing(make_pod("p").requires(term(fields=[(NAME, "NotIn", ("a",))]))) == ["b", "c"]


def test_added_affinity_is_judged_before_the_pods_own() -> None:
    added = {
        "addedAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term(("disk", "Exists", ()))]}
        }
    }
    found = filter_nodes(make_plugin("NodeAffinity", added), make_pod("p").selector({"disk": "ssd"}).pod(), NODES)
    assert found == {"a": None, "b": REFUSED, "c": ENFORCED}


def test_weights_of_matching_preferences_are_summed() -> None:
    pod = make_pod("p").prefers((10, term(("disk", "Exists", ()))), (5, term(("size", "Lt", ("5",))))).pod()
    plugin = make_plugin("NodeAffinity")
    assert score_nodes(plugin, pod, NODES) == {"a": 15, "b": 10, "c": 0}
    assert normalize_node_scores(plugin, pod, NODES) == {"a": 100, "b": 66, "c": 0}


def test_without_preferences_scoring_is_skipped() -> None:
    assert score_nodes(make_plugin("NodeAffinity"), make_pod("p").selector({"disk": "ssd"}).pod(), NODES) is None


def test_added_preferences_are_added_to_the_pods() -> None:
    preference = {"weight": 7, "preference": term(("disk", "In", ("hdd",)))}
    args = {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}
    pod = make_pod("p").prefers((1, term(("disk", "Exists", ())))).pod()
    assert score_nodes(make_plugin("NodeAffinity", args), pod, NODES) == {"a": 1, "b": 8, "c": 0}


def test_a_preference_that_does_not_parse_is_an_internal_error() -> None:
    pod = make_pod("p").prefers((1, term(("size", "Gt", ("-1",))))).pod()
    status = make_plugin("NodeAffinity").pre_score(CycleState(), pod, NODES, all_rows(NODES))
    assert status.code is Code.ERROR
    assert status.message.startswith('[0].matchExpressions[0].values[0][size]: Invalid value: "-1": a valid label')


def test_it_explains_each_requirement_with_the_nodes_value() -> None:
    pod = make_pod("p").requires(term(("size", "Gt", ("5",)))).selector({"gpu": "yes"}).pod()
    assert rows(make_plugin("NodeAffinity").explain(CycleState(), pod, NODES, 0)) == [
        ("gpu In yes", "no such label", "bad"),
        ("[term 1] size Gt 5", "3", "bad"),
    ]
