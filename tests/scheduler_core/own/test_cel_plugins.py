"""Plugins of one's own in CEL: what each expression decides, what is refused, what an evaluation without an answer leads to."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler_core.analysis.inspection import figures, working
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.plugins.cel import MOST_PLUGINS, Definition, plugin_of
from scheduler_core.scheduler.plugins.cel import expressions as limits
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import (
    ApplyObjects,
    DefinePlugin,
    Redo,
    SetConfiguration,
    SetSettings,
    StartScheduler,
    Undo,
    command_from_json,
)
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.own.worlds import at_point, profile
from tests.scheduler_core.worlds import configuration, cycle_of, node, nodes_of, of_kind, pod, scheduler_of, settle

SECOND = 1_000_000_000


def world(*objects: dict[str, Any], chosen: dict[str, Any] | None = None, **expressions: Any) -> Simulation:
    """A world with a plugin `Mine` of these expressions in its profile, and these objects."""
    sim = Simulation(seed=1)
    sim.apply(DefinePlugin("Mine", Definition(**expressions)))
    sim.apply(SetConfiguration(configuration(profiles=[chosen or profile("Mine")])))
    sim.apply(ApplyObjects(objects))
    return sim


def attempt(sim: Simulation) -> tuple[str, str]:
    """Outcome and message of the first attempt."""
    sim.run(until=lambda w: bool(w.journal.attempts))
    first = sim.journal.attempts[0]
    return first.outcome, first.message


# What expressions decide


def test_filter_refuses_nodes_in_its_own_words_or_in_ours() -> None:
    own = "node.metadata.name == 'a' ? 'node(s) were called a' : ''"
    _, said = attempt(world(node("a"), pod("web"), filter=own))
    assert said.startswith("0/1 nodes are available: 1 node(s) were called a.")
    _, said = attempt(world(node("a"), pod("web"), filter="node.metadata.name != 'a'"))
    assert said.startswith("0/1 nodes are available: 1 node(s) didn't satisfy plugin Mine.")


def test_filter_sees_pod_node_amounts_and_pods() -> None:
    sees = (
        "pod.spec.containers.size() == 1 && node.metadata.labels['kubernetes.io/hostname'] == 'a' && "
        "allocatable.cpu == 4000 && requested.cpu == 1000 && requested.pods == 1 && pods[0].metadata.name == 'there' && "
        "now > timestamp('1970-01-01T00:00:00Z') && args.zone == 'z'"
    )
    args = {"Mine": {"zone": "z"}}
    sim = world(node("a"), pod("there", nodeName="a"), pod("web"), filter=sees, chosen=profile("Mine", args=args))
    settle(sim)
    assert nodes_of(sim)["default/web"] == "a"


@pytest.mark.parametrize(("unresolvable", "evicted"), [(False, True), (True, False)])
def test_where_filter_says_so_no_preemption_is_tried(unresolvable: bool, evicted: bool) -> None:
    sim = world(node("a", cpu="9"), pod("low"), filter="pods.size() == 0", unresolvable=unresolvable)
    settle(sim)
    sim.apply(ApplyObjects((pod("high", priority=9),)))
    sim.run(steps=400)
    assert ("default/low" not in nodes_of(sim)) is evicted


@pytest.mark.parametrize(
    ("normalize", "scores"),
    [
        ("none", {"a": 4, "b": 8, "c": 16}),
        ("default", {"a": 25, "b": 50, "c": 100}),
        ("reversed", {"a": 75, "b": 50, "c": 0}),
        ("min-max", {"a": 0, "b": 33, "c": 100}),
    ],
)
def test_score_is_normalized_as_is_asked_for(normalize: Any, scores: dict[str, int]) -> None:
    nodes = (node("a", cpu="4"), node("b", cpu="8"), node("c", cpu="16"))
    sim = world(*nodes, pod("web"), score="allocatable.cpu / 1000", normalize=normalize)
    records = sim.run(until=lambda w: bool(w.journal.attempts)).records
    steps = [r for r in of_kind(records, "plugin_ran") if r["plugin"] == "Mine" and "scores" in r]
    assert steps[-1]["scores"] == scores
    workings = [
        working(scheduler_of(sim).profiles["default-scheduler"], cycle_of(sim), "Mine", each) for each in scores
    ]
    formulas = [each.normalization or each.formula for each in workings if each is not None]
    assert [formula and formula.result for formula in formulas] == list(scores.values())
    assert [step["point"] for step in steps] == (["Score"] if normalize == "none" else ["Score", "NormalizeScore"])


@pytest.mark.parametrize(("expression", "score"), [("99.9", 99), ("true", 100), ("false", 0), ("7", 7)])
def test_score_takes_numbers_and_truths(expression: str, score: int) -> None:
    sim = world(node("a"), node("b"), pod("web"), score=expression)
    records = sim.run(until=lambda w: bool(w.journal.attempts)).records
    (step,) = [r for r in of_kind(records, "plugin_ran") if (r["plugin"], r["point"]) == ("Mine", "Score")]
    assert step["scores"] == {"a": score, "b": score}


def test_a_score_out_of_range_is_refused_in_kubes_words() -> None:
    _, said = attempt(world(node("a"), node("b"), pod("web"), score="101"))
    assert said == (
        'applying score defaultWeights on Score plugins: plugin "Mine" returns an invalid score 101, '
        "it should in the range of [0, 100] after normalizing"
    )


@pytest.mark.parametrize(
    ("expression", "place"),
    [("true", Place.BOUND), ("''", Place.BOUND), ("false", Place.GATED), ("'not yet'", Place.GATED)],
)
def test_pre_enqueue_holds_pods_back(expression: str, place: str) -> None:
    sim = world(node("a"), pod("web"), pre_enqueue=expression)
    sim.run(until=lambda w: w.journal.place("default/web") == place, steps=200)
    assert sim.journal.place("default/web") == place


@pytest.mark.parametrize("expression", ["true", "0", "''"])
def test_permit_lets_pods_go(expression: str) -> None:
    sim = world(node("a"), pod("web"), permit=expression)
    settle(sim)
    assert nodes_of(sim) == {"default/web": "a"}


@pytest.mark.parametrize(
    ("expression", "said"),
    [("false", "rejected by plugin Mine"), ("-1", "rejected by plugin Mine"), ("'too late'", "too late")],
)
def test_permit_rejects_pods(expression: str, said: str) -> None:
    assert attempt(world(node("a"), pod("web"), permit=expression)) == (
        "unschedulable",
        f"0/1 nodes are available: 1 {said}.",
    )


def test_permit_waits_for_so_many_seconds_and_sees_who_waits() -> None:
    sim = world(node("a"), pod("one"), pod("two"), permit="waiting.size() == 0 ? 5 : 0")
    records = sim.run(until=lambda w: w.now > 6 * SECOND, steps=400).records
    waits = of_kind(records, "pod_waits")[0]
    assert waits["timeouts"] == {"Mine": 5 * SECOND}
    assert nodes_of(sim)["default/two"] == "a"
    reasons = [r["status"]["reasons"] for r in of_kind(records, "wait_ended")]
    assert reasons[0] == ["rejected due to timeout after waiting 5s at plugin Mine"]


def preempting(expression: str) -> Simulation:
    chosen = at_point("Mine", "postFilter", "*")
    lows = [pod(name, cpu="4") for name in ("first", "second")]
    lows[0]["metadata"]["labels"] = {"team": "precious"}
    sim = world(node("a"), node("b"), *lows, chosen=chosen, post_filter=expression)
    settle(sim)
    sim.apply(ApplyObjects((pod("high", cpu="4", priority=9),)))
    return sim


def test_post_filter_evicts_only_whom_it_may() -> None:
    sim = preempting("!has(victim.metadata.labels) || victim.metadata.labels.team != 'precious'")
    settle(sim)
    assert sorted(nodes_of(sim)) == ["default/first", "default/high"]
    assert nodes_of(sim)["default/high"] != ""


def test_without_a_victim_that_may_go_preemption_does_not_help() -> None:
    sim = preempting("false")
    sim.run(until=lambda w: len(w.journal.attempts) == 3)
    assert "2 No preemption victims found for incoming pod" in sim.journal.attempts[2].message


def test_an_evaluation_error_about_a_victim_is_told_at_post_filter() -> None:
    sim = preempting("victim.metadata.labels.team == 'mine'")
    sim.run(until=lambda w: len(w.journal.attempts) == 3)
    said = sim.journal.attempts[2].message
    assert "evaluating CEL expression of PostFilter: no such key: " in said
    assert "(victim default/second on node " in said
    assert len(nodes_of(sim)) == 3


# No answer


def test_an_evaluation_error_at_one_node_ends_the_cycle_with_plugin_and_node() -> None:
    sim = world(node("a", labels={"gpu": "yes"}), node("b"), pod("web"), filter="node.metadata.labels.gpu == 'yes'")
    assert attempt(sim) == (
        "error",
        'running "Mine" filter plugin: evaluating CEL expression of Filter on node "b": no such key: gpu',
    )
    assert sim.journal.place("default/web") == Place.BACKOFF


def test_an_evaluation_error_at_score_is_kubes_too() -> None:
    sim = world(node("a", labels={"gpu": "2"}), node("b"), pod("web"), score="int(node.metadata.labels.gpu)")
    assert attempt(sim) == (
        "error",
        'running Score plugins: plugin "Mine" failed with: evaluating CEL expression of Score on node "b": '
        "no such key: gpu",
    )


@pytest.mark.parametrize(
    ("point", "expression", "said"),
    [
        ("permit", "pod.metadata.labels.x == ''", 'running Permit plugin "Mine": evaluating CEL expression of Permit'),
        ("filter", "pod.spec", "received {"),
        ("score", "pod.metadata.name", "received 'web' as its answer; expected int, double or bool"),
        ("score", "1.0 / 0.0", "received inf as its answer; expected a number of 64 bits"),
    ],
)
def test_an_answer_of_another_type_is_an_error(point: str, expression: str, said: str) -> None:
    outcome, message = attempt(world(node("a"), node("b"), pod("web"), **{point: expression}))
    assert outcome == "error"
    assert said in message


COSTLY = "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, a*b*c*d > 0))))"


def test_an_expression_that_costs_too_much_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIMIT", 1_000)
    assert attempt(world(node("a"), pod("web"), filter=COSTLY)) == (
        "error",
        'running "Mine" filter plugin: evaluating CEL expression of Filter on node "a": '
        "operation cancelled: actual cost limit exceeded",
    )


def test_all_nodes_together_may_cost_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIMIT_OF_A_CALL", 300)
    many = [node(f"n{i}") for i in range(50)]
    _, said = attempt(world(*many, pod("web"), filter="pod.metadata.name == 'web' && node.metadata.name != ''"))
    assert said.endswith("this call has cost more than 300, all nodes together")


# Definitions


@pytest.mark.parametrize(
    ("definition", "path", "said", "place"),
    [
        (Definition(filter="node.metadata.name =="), "definition.filter", "Syntax error: ", (1, 22)),
        (Definition(filter="true &&\n nod.name == ''"), "definition.filter", "undeclared reference to 'nod'", (2, 2)),
        (Definition(score="victim"), "definition.score", "undeclared reference to 'victim'", (1, 1)),
        (
            Definition(pre_enqueue="3"),
            "definition.pre_enqueue",
            "the answer is of type int; expected bool or string",
            (1, 1),
        ),
    ],
)
def test_what_does_not_compile_is_refused_at_its_character(
    definition: Definition, path: str, said: str, place: tuple[int, int]
) -> None:
    sim = Simulation()
    with pytest.raises(Refused) as refused:
        sim.apply(DefinePlugin("Mine", definition))
    (error,) = refused.value.errors
    assert (error.path, (error.line, error.column)) == (path, place)
    assert said in error.expected
    assert sim.settings.plugins == {}


@pytest.mark.parametrize(
    ("name", "definition", "said"),
    [
        ("NodeName", Definition(filter="true"), "a name that no other plugin has"),
        ("Mine", Definition(), "an expression for at least one extension point"),
        ("Mine", None, "none has this name"),
    ],
)
def test_what_cannot_be_defined_is_refused(name: str, definition: Definition | None, said: str) -> None:
    with pytest.raises(Refused, match=said):
        Simulation().apply(DefinePlugin(name, definition))


@pytest.mark.parametrize(
    "data",
    [
        {"plugin": "9lives", "definition": {"filter": "true"}},
        {"plugin": "Mine", "definition": {"filters": "true"}},
        {"plugin": "Mine", "definition": {"score": "1", "normalize": "somehow"}},
        {"plugin": "Mine", "definition": {"score": "1", "weight": 101}},
        {"plugin": "Mine", "definition": {"filter": "x" * 5_000}},
    ],
)
def test_a_command_that_is_none_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        command_from_json({"kind": "DefinePlugin", **data})


def test_there_is_a_most_of_plugins() -> None:
    sim = Simulation()
    for i in range(MOST_PLUGINS):
        sim.apply(DefinePlugin(f"P{i}", Definition(filter="true")))
    with pytest.raises(Refused, match="at most 50 custom plugins"):
        sim.apply(DefinePlugin("One", Definition(filter="true")))
    sim.apply(DefinePlugin("P0", Definition(filter="false")))


def test_a_plugin_that_a_profile_names_stays() -> None:
    sim = world(score="1")
    with pytest.raises(Refused, match="a plugin that no profile uses, but a profile of kube-scheduler does"):
        sim.apply(DefinePlugin("Mine"))
    sim.apply(SetConfiguration())
    sim.apply(DefinePlugin("Mine"))
    assert sim.settings.plugins == {}


def test_a_definition_that_leaves_a_point_at_which_it_stands_is_refused() -> None:
    chosen = {"plugins": {"score": {"enabled": [{"name": "Mine", "weight": 5}]}}}
    sim = world(score="1", chosen=chosen)
    with pytest.raises(Refused, match='plugin "Mine" does not extend ScorePlugin plugin'):
        sim.apply(DefinePlugin("Mine", Definition(filter="true")))
    assert sim.settings.plugins["Mine"].score == "1"


def test_settings_do_not_set_plugins() -> None:
    with pytest.raises(Refused, match="the command DefinePlugin"):
        Simulation().apply(SetSettings({"plugins": {"Mine": {"filter": "true"}}}))


def test_only_schedulers_that_use_it_start_again() -> None:
    sim = Simulation(settings=WorldSettings(cluster=ClusterSettings()))
    sim.apply(DefinePlugin("Mine", Definition(score="1")))
    sim.apply(SetConfiguration(configuration(profiles=[{**profile("Mine"), "schedulerName": "mine"}]), "mine"))
    sim.apply(StartScheduler("third"))
    before = {scheduler.name: scheduler for scheduler in sim.schedulers}
    sim.apply(DefinePlugin("Other", Definition(score="1")))
    assert all(before[scheduler.name] is scheduler for scheduler in sim.schedulers)
    sim.apply(DefinePlugin("Mine", Definition(score="2")))
    again = [scheduler.name for scheduler in sim.schedulers if before[scheduler.name] is not scheduler]
    assert again == ["mine"]


def test_no_cycle_sees_two_versions() -> None:
    """The cycle in progress ends with the scheduler that had the old version; the pod is tried again from the start."""
    sim = world(node("a"), node("b"), pod("web"), filter="node.metadata.name == 'a'")
    sim.run(until=lambda w: any(r.kind == "plugin_ran" and r.data["plugin"] == "Mine" for r in w.last))
    sim.apply(DefinePlugin("Mine", Definition(filter="node.metadata.name == 'b'")))
    settle(sim)
    assert nodes_of(sim) == {"default/web": "b"}


def test_a_definition_is_undone_and_made_again() -> None:
    sim = world(node("a"), filter="true")
    sim.apply(DefinePlugin("Mine", Definition(filter="false")))
    sim.apply(Undo())
    sim.apply(Undo())  # the node
    assert sim.settings.plugins["Mine"].filter == "true"
    sim.apply(Redo())
    sim.apply(Redo())
    assert sim.settings.plugins["Mine"].filter == "false"


# The world around it


def test_forks_and_checkpoints_have_the_plugins() -> None:
    sim = world(node("a"), node("b"), pod("web"), filter="true", score="node.metadata.name == 'b' ? 100 : 0")
    sim.run(steps=12)
    archive = Archive()
    kept = decode(encode(sim.fork(), archive), archive)
    runs = [[r.to_json() for r in settle(each)] for each in (sim.fork(), kept, sim)]
    assert runs[0] == runs[1] == runs[2]
    assert nodes_of(sim) == {"default/web": "b"}


def test_the_command_survives_json() -> None:
    command = DefinePlugin("Mine", Definition(score="1", normalize="min-max", weight=7, description="why"))
    data = msgspec.to_builtins(command)
    assert data["definition"] == {"description": "why", "score": "1", "normalize": "min-max", "weight": 7}
    assert command_from_json(data) == command


def test_a_plugin_is_explained_with_the_values_of_its_parts() -> None:
    sim = world(node("a"), node("b"), pod("web"), score="allocatable.cpu / 1000 + 3", filter="pods.size() < 5")
    sim.run(until=lambda w: any(r.kind == "plugin_ran" and r.data["point"] == "Score" for r in w.last))
    sim.run(until=lambda w: any(r.kind == "plugin_ran" and r.data["plugin"] == "Mine" for r in w.last))
    (framework,) = scheduler_of(sim).profiles.values()
    explained = figures(framework, cycle_of(sim), "a")["Mine"]
    tables = [str(block) for block in explained]
    assert any("allocatable.cpu / 1000" in block and "'4'" in block for block in tables)
    assert any("pods.size()" in block for block in tables)


def test_the_same_definition_is_the_same_plugin() -> None:
    assert plugin_of("Mine", Definition(filter="true")) is plugin_of("Mine", Definition(filter="true"))


def test_without_own_plugins_the_settings_say_nothing_of_them() -> None:
    assert WorldSettings().plugins == {}


def test_a_pod_for_which_pre_enqueue_has_no_answer_is_held_back() -> None:
    sim = world(node("a"), pre_enqueue="pod.metadata.labels.team == 'a'")
    records = sim.apply(ApplyObjects((pod("web"),)))
    (held,) = of_kind(records, "plugin_ran")
    assert held["status"]["code"] == "Error"
    assert held["status"]["reasons"] == ["evaluating CEL expression of PreEnqueue: no such key: labels"]
    assert sim.journal.place("default/web") == Place.GATED
