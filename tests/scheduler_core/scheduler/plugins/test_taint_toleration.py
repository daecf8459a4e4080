import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import error, unresolvable
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table
from tests.support.drive import all_rows, filter_nodes, make_plugin, normalize_node_scores, score_nodes

SOFT = "PreferNoSchedule"


def test_the_first_untolerated_hard_taint_is_named_with_its_blank_value() -> None:
    node = make_node("a").taint("soft", SOFT).taint("one", "NoSchedule").taint("two", "NoExecute", "x")
    pod = make_pod("p").tolerates("two").pod()
    found = filter_nodes(make_plugin("TaintToleration"), pod, make_table([node]))
    assert found == {"a": unresolvable("node(s) had untolerated taint {one: }")}


def test_nodes_with_different_taints_get_their_own_reasons() -> None:
    nodes = make_table(
        [make_node("a").taint("x", "NoSchedule", "1"), make_node("b"), make_node("c").taint("y", "NoExecute")]
    )
    found = filter_nodes(make_plugin("TaintToleration"), make_pod("p").pod(), nodes)
    texts = {name: status and status.message for name, status in found.items()}
    assert texts == {"a": "node(s) had untolerated taint {x: 1}", "b": None, "c": "node(s) had untolerated taint {y: }"}


@pytest.mark.parametrize(
    ("pod", "passes"),
    [
        (make_pod("p").tolerates("k"), True),
        (make_pod("p").tolerates("k", operator="Equal", value="v"), True),
        (make_pod("p").tolerates("k", operator="Equal", value="other"), False),
        (make_pod("p").tolerates("k", effect="NoExecute"), False),
        (make_pod("p").tolerates(), True),
    ],
)
def test_a_hard_taint_needs_a_matching_toleration(pod: PodBuilder, passes: bool) -> None:
    nodes = make_table([make_node("a").taint("k", "NoSchedule", "v")])
    assert (filter_nodes(make_plugin("TaintToleration"), pod.pod(), nodes)["a"] is None) is passes


def test_untolerated_soft_taints_are_counted_and_the_fewest_win() -> None:
    two = make_node("b").taint("x", SOFT).taint("y", SOFT)
    nodes = make_table([make_node("a"), two, make_node("c").taint("x", SOFT)])
    plugin, pod = make_plugin("TaintToleration"), make_pod("p").pod()
    assert score_nodes(plugin, pod, nodes) == {"a": 0, "b": 2, "c": 1}
    assert normalize_node_scores(plugin, pod, nodes) == {"a": 100, "b": 0, "c": 50}


def test_without_soft_taints_every_node_gets_a_hundred() -> None:
    nodes = make_table([make_node("a"), make_node("b").taint("x", "NoSchedule")])
    found = normalize_node_scores(make_plugin("TaintToleration"), make_pod("p").pod(), nodes)
    assert found == {"a": 100, "b": 100}


def test_a_toleration_of_hard_taints_does_not_count_for_soft_ones() -> None:
    nodes = make_table([make_node("a").taint("x", SOFT)])
    pod = make_pod("p").tolerates("x", "NoSchedule").pod()
    assert score_nodes(make_plugin("TaintToleration"), pod, nodes) == {"a": 1}


def test_without_pre_score_scoring_is_an_internal_error() -> None:
    nodes = make_table([make_node("a")])
    scores = make_plugin("TaintToleration").score(CycleState(), make_pod("p").pod(), nodes, all_rows(nodes))
    assert scores == error('failed to read "PreScoreTaintToleration" from cycleState: not found')
