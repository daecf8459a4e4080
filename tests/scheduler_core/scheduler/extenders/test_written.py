"""Extenders written in CEL: what their expressions answer, and what is wrong with them."""

import json
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.extender import Extender, NodeVictims, Request, Verb
from scheduler_core.scheduler.extenders.written import WrittenServer, answer_from_expressions, problems_of
from scheduler_core.world.commands import ApplyObjects, SetExtender
from tests.scheduler_core.scheduler.extenders.test_sessions import URL, extended, node_of
from tests.scheduler_core.worlds import node, pod, settle

NODES = tuple(Node.from_manifest(node(name)) for name in "abc")
WEB = Pod.from_manifest(pod("web"))


def answer(verb: Verb, *, names_only: bool = True, **expressions: Any) -> Answer:
    extender = Extender(0, URL, ((verb, verb.value),), node_cache_capable=names_only)
    victims = (NodeVictims("a", (WEB,), 0), NodeVictims("b", (WEB,), 2))
    request = Request(WEB, NODES, victims, "b", names_only)
    return answer_from_expressions(Exchange(0, extender, verb, request), WrittenServer(**expressions))


def body(verb: Verb, **expressions: Any) -> Any:
    return json.loads(answer(verb, **expressions).body)


def test_a_filter_refuses_with_true_false_or_a_text() -> None:
    said = body(Verb.FILTER, filter="node.metadata.name == 'b' ? 'no licence' : ''")
    assert (said["NodeNames"], said["FailedNodes"]) == (["a", "c"], {"b": "no licence"})
    said = body(Verb.FILTER, filter="node.metadata.name == 'b'", unresolvable=True)
    refused = dict.fromkeys("ac", "node(s) were refused by the extender")
    assert (said["NodeNames"], said["FailedAndUnresolvableNodes"]) == (["b"], refused)


def test_without_a_cache_of_its_own_it_answers_with_nodes() -> None:
    said = body(Verb.FILTER, filter="node.metadata.name != 'a'", names_only=False)
    assert [one["metadata"]["name"] for one in said["Nodes"]["items"]] == ["b", "c"]


def test_scores_are_whole_numbers() -> None:
    said = body(Verb.PRIORITIZE, prioritize="size(pod.metadata.name) + (node.metadata.name == 'a' ? 7 : 0)")
    assert said == [{"Host": "a", "Score": 10}, {"Host": "b", "Score": 3}, {"Host": "c", "Score": 3}]


def test_candidates_are_kept_by_their_victims() -> None:
    said = body(Verb.PREEMPT, preempt="violations == 0 && size(victims) == 1 && node.metadata.name == 'a'")
    assert list(said["NodeNameToMetaVictims"]) == ["a"]


def test_a_binding_is_refused_with_its_error() -> None:
    assert body(Verb.BIND, bind="node.metadata.name == 'b' ? 'no lease' : ''") == {"Error": "no lease"}
    assert body(Verb.BIND) == {"Error": ""}


def test_without_expressions_it_is_neutral() -> None:
    assert body(Verb.FILTER)["NodeNames"] == ["a", "b", "c"]
    assert body(Verb.PRIORITIZE) == []
    assert list(body(Verb.PREEMPT)["NodeNameToMetaVictims"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("node.metadata.labels.gpu == 'yes'", "filter of a: no such key: gpu"),
        ("[1] + [2] == [3] ? pod : pod", "expected bool or string"),
        (
            "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, "
            "[1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, a + b + c + d + e > 0)))))",
            "cost limit exceeded",
        ),
    ],
)
def test_what_goes_wrong_is_a_failing_server(expression: str, text: str) -> None:
    said = answer(Verb.FILTER, filter=expression)
    assert said.status == 500
    assert text in said.body


def test_an_error_is_told_at_its_character() -> None:
    (wrong,) = problems_of(WrittenServer(prioritize="node.metadata.name +\n  nod"))
    assert (wrong.verb, wrong.line, wrong.column) == ("prioritize", 2, 2)
    (wrong,) = problems_of(WrittenServer(prioritize="'ten'"))
    assert wrong.message == "the answer is of type string; expected int"


def test_a_session_refuses_what_does_not_compile_and_uses_what_does() -> None:
    sim = extended()
    with pytest.raises(Refused, match="Line 1, column 1: undeclared reference to 'nod'"):
        sim.apply(SetExtender(URL, WrittenServer(filter="nod")))
    assert sim.behaviours == ()
    sim.apply(SetExtender(URL, WrittenServer(filter="node.metadata.name != 'a'")))
    sim.apply(ApplyObjects((pod("web"),)))
    settle(sim)
    assert node_of(sim) == "b"


def test_an_expression_that_fails_fails_the_attempt_in_kubes_words() -> None:
    sim = extended()
    sim.apply(SetExtender(URL, WrittenServer(filter="node.metadata.labels.gpu == 'yes'")))
    sim.apply(ApplyObjects((pod("web"),)))
    sim.run(until=lambda w: bool(w.journal.attempts))
    assert sim.journal.attempts[-1].message == f"failed filter with extender at URL {URL}/filter, code 500"
