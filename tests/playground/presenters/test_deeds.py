"""The deeds of controllers: told in English as the engine notes them, and clause by clause in the words of another language."""

from __future__ import annotations

import re

from playground.common.catalogs import read_yaml
from playground.presenters.sentences.lines import WORDS, describe_deeds, describe_key
from playground.presenters.words import format_message, in_english
from scheduler_core.base.trace.kinds import Reconciled
from scheduler_core.world.commands import SetKubelet
from tests.scheduler_core.clusters import cluster, make
from tests.scheduler_core.worlds import node


def test_each_form_is_recognized_and_reads_in_english_as_it_was_noted() -> None:
    for form in read_yaml(WORDS)["forms"]:
        text = re.sub(r"%\((\w+)\)s", r"\1-1", form)
        assert describe_deeds(text).get("text") == form
        assert in_english(describe_deeds(f"{text}; {text}")) == f"{text}; {text}"


def test_a_reason_within_a_clause_is_translated_too_and_other_texts_stay() -> None:
    said = {
        "scaled down %(it)s from %(from)s to %(to)s: %(why)s": "-%(it)s: %(why)s",
        "its share of %(count)s pods": "/%(count)s",
    }
    told = describe_deeds("scaled down a from 4 to 3: its share of 9 pods; pods is forbidden: no")
    assert format_message(told, lambda text: said.get(text, text)) == "-a: /9; pods is forbidden: no"


def test_most_of_what_controllers_do_is_known_by_its_form() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    sim = cluster(node("a"), node("b"), make("Deployment", "web", spec=spec))
    clauses: set[str] = set()
    for seconds, running in ((10, False), (400, True)):
        while sim.due(seconds * 1_000_000_000):
            sim.advance()
            facts = [record.facts for record in sim.last]
            clauses |= {text for each in facts if isinstance(each, Reconciled) for text in each.did.split("; ") if text}
        sim.apply(SetKubelet("a", running))
    assert len(clauses) > 10
    assert [each for each in clauses if describe_deeds(each).get("exact")] == []


def test_clauses_of_one_form_are_told_once_with_how_many_more_there_are() -> None:
    told = describe_deeds("; ".join(f"noticed the new node n{at}" for at in range(50)) + "; evicted web-1")
    assert in_english(told) == "noticed the new node n0; and 49 more like these; evicted web-1"


def test_the_key_of_all_nodes_is_in_words_and_that_of_an_object_is_its_name() -> None:
    assert (describe_key("all nodes")["text"], describe_key("default/web")["exact"]) == ("all nodes", "web")
