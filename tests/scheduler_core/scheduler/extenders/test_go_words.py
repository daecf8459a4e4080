"""Answers that are wrong are refused in Go's very words, as encoding/json of the real thing said them of the same texts."""

import json
from pathlib import Path

import pytest

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb
from scheduler_core.scheduler.extenders.results import (
    ExtenderError,
    read_bind,
    read_filter,
    read_preempt,
    read_prioritize,
)
from tests.scheduler_core.worlds import pod

READERS = {Verb.FILTER: read_filter, Verb.PRIORITIZE: read_prioritize, Verb.PREEMPT: read_preempt, Verb.BIND: read_bind}
# Verb, body, and what the scheduler says: empty where the answer is good.
CASES: list[tuple[Verb, str, str]] = [
    (Verb(verb), body, words) for verb, body, words in json.loads(Path(__file__).with_name("go_words.json").read_text())
]


def answered(verb: Verb, body: str) -> Exchange:
    extender = Extender(0, "http://e", ((verb, verb.value),), node_cache_capable=True)
    return Exchange(0, extender, verb, Request(Pod.from_manifest(pod("p"))), answer=Answer(200, body))


@pytest.mark.parametrize(("verb", "body", "words"), CASES)
def test_an_answer_is_read_or_refused_as_go_does(verb: Verb, body: str, words: str) -> None:
    said = ""
    try:
        READERS[verb](answered(verb, body))
    except ExtenderError as error:
        said = str(error)
    assert said == words


def test_names_of_fields_may_be_in_any_case_and_the_last_one_counts() -> None:
    result = read_filter(answered(Verb.FILTER, '{"nodenames": ["a"], "NodeNames": ["b"]}'))
    assert result.node_names == ("b",)


def test_victims_that_are_null_are_an_error() -> None:
    with pytest.raises(ExtenderError, match="nil pointer"):
        read_preempt(answered(Verb.PREEMPT, '{"NodeNameToMetaVictims": {"a": null}}'))


def test_a_text_nested_without_end_is_an_error() -> None:
    with pytest.raises(ExtenderError, match="unexpected EOF"):
        read_filter(answered(Verb.FILTER, "[" * 200_000))
    with pytest.raises(ExtenderError, match="exceeded max depth"):
        read_filter(answered(Verb.FILTER, "[" * 200_000 + "]" * 200_000))
