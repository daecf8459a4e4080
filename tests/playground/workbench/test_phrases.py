"""Sentences of the palette: what they become, how they go on, and what is expected of them."""

from __future__ import annotations

import pytest

from playground.workbench.phrases import KnownNames, Phrase, suggest

KNOWN = KnownNames(
    {"Node": [("", "node-1"), ("", "node-12"), ("", "gpu")], "Deployment": [("shop", "web"), ("shop", "webhook")]},
    ("NodeName", "NodeResourcesFit"),
    {"gate": "A gate", "taints": "Taints and tolerations"},
    40,
)


def first(text: str) -> Phrase:
    return suggest(text, KNOWN, True)[0]


def test_a_verb_alone_says_what_follows_it() -> None:
    assert first("ta") == Phrase("Taint …", "taint Node dedicated=infra:NoSchedule", "taint ")


def test_a_part_of_a_name_is_completed() -> None:
    assert [one.complete for one in suggest("taint node", KNOWN, True)] == ["taint node-1 ", "taint node-12 "]


@pytest.mark.parametrize(
    ("text", "send", "fields"),
    [
        ("taint node-1 a=b:NoExecute", "act/taint", {"key": "a", "value": "b", "effect": "NoExecute"}),
        ("label gpu disk=ssd, old-", "act/label", {"labels": "disk=ssd, old-"}),
        ("scale web to 3", "act/scale", {"kind": "Deployment", "namespace": "shop", "name": "web", "replicas": "3"}),
        ("scale webh 0", "act/scale", {"name": "webhook", "replicas": "0"}),
        ("cordon gpu", "act/cordon", {"kind": "Node", "name": "gpu"}),
    ],
)
def test_a_whole_sentence_becomes_the_action_s_form(text: str, send: str, fields: dict[str, str]) -> None:
    entry = first(text).entry
    assert entry is not None
    assert entry["send"] == send
    assert entry["fields"].items() >= fields.items()


def test_an_action_with_choices_opens_its_form() -> None:
    assert first("drain gpu").entry == {"page": "act/drain?kind=Node&name=gpu"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("taint gpu nonsense", "“nonsense” is not a taint"),
        ("scale web to many", "“many” is not a number from 0 to 1000"),
        ("scale web to 1001", "“1001” is not a number from 0 to 1000"),
        ("taint nope a=b:NoSchedule", "No Node has “nope” in its name"),
        ("go to step x", "“x” is not a step"),
        ("go to plugin Nope", "No plugin has “Nope” in its name"),
        ("start lesson nope", "No lesson has “nope” in its name"),
    ],
)
def test_a_wrong_argument_says_what_is_expected_and_does_nothing(text: str, said: str) -> None:
    offer = first(text)
    assert offer.label.startswith(said)
    assert (offer.entry, bool(offer.complete)) == (None, True)


def test_an_unknown_name_brings_names_that_there_are() -> None:
    assert first("cordon web").hint == "for example node-1, node-12, gpu"


def test_places_and_lessons_are_reached_by_name() -> None:
    assert first("go to step 25").at == first("step 25").at == 25
    assert (first("step 41").at, first("step 41").hint) == (None, "a number from 0 to 40")
    assert first("go to plugin fit").entry == {"seek": "forward", "fields": {"plugin": "NodeResourcesFit"}}
    assert first("start lesson toler").start == "story:taints"


def test_a_view_link_gets_no_sentence_that_changes_anything() -> None:
    assert suggest("taint gpu a=b:NoSchedule", KNOWN, False) == []
    assert suggest("step 3", KNOWN, False)[0].at == 3


def test_the_server_knows_the_names_of_the_session(visitor) -> None:
    begun = visitor("empty")
    begun.post("build/nodes", count=1, name="node-{i}", first=1, cpu="4", memory="16Gi", pods=110)
    phrases = begun.get("names.json?q=x&say=taint no").json()["phrases"]
    assert [one["complete"] for one in phrases] == ["taint node-1 "]
