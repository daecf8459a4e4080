"""Every kind of record is told in a sentence, made of what the class of the kind has."""

import re
from typing import Any

import msgspec
import pytest

from playground.presenters.sentences.kinds import RANK, RECORD_KINDS, Kind, row
from playground.presenters.sentences.lines import TITLES, RecordContext
from playground.presenters.words import format_message, in_english, message
from playground.templatetags.studio import translated
from scheduler_core.base.trace.kinds import CLASSES, ApiCall, Facts, PluginRan, PodForgotten, PointStarted
from scheduler_core.base.trace.records import FieldSchema, Record, fields_of
from scheduler_core.world.commands import CommandRecord, Ref

EXAMPLES: dict[str, Any] = {"string": "some", "int": 7, "bool": True, "double": 1.5, "dyn": None}


def example(type_: str) -> Any:
    """A value of a type as CEL names it."""
    if type_.startswith("list("):
        return [example(type_[5:-1])]
    if type_.startswith("map("):
        return {"some": example(type_[:-1].split(", ", 1)[1])} if " or " not in type_ else {}
    if type_.startswith("{"):
        return {"code": "Unschedulable", "plugin": "some", "reasons": ["some"]}
    return EXAMPLES[type_.split(" or ")[0]]


def said(facts: type[Facts], fields: list[FieldSchema]) -> dict[str, Any]:
    """The row of a record that has these fields."""
    return row(Record(1, 0, made(facts, fields), "kube-scheduler", 0))


def made(facts: type[Facts], fields: list[FieldSchema]) -> Facts:
    data = {field.name: example(field.type) for field in fields}
    return msgspec.convert(data, facts, strict=True)


def test_every_kind_has_one_sentence_and_one_line() -> None:
    assert sorted(kind.facts.KIND for kind in RECORD_KINDS) == sorted(facts.KIND for facts in CLASSES)


@pytest.mark.parametrize("facts", CLASSES, ids=lambda facts: facts.KIND)
@pytest.mark.parametrize("whole", [True, False], ids=["all fields", "required fields"])
def test_a_sentence_is_made_of_what_the_class_has(facts: type[Facts], whole: bool) -> None:
    fields = [field for field in fields_of(facts) if whole or not field.optional]
    shown = said(facts, fields)
    assert shown["kind"] == facts.KIND
    assert shown["head"]
    text, values = shown["sentence"]["text"], shown["sentence"].get("values", {})
    assert set(re.findall(r"%\((\w+)\)s", text)) <= set(values)
    assert translated(shown["sentence"])


@pytest.mark.parametrize("kind", RECORD_KINDS, ids=lambda kind: kind.facts.KIND)
def test_a_line_goes_from_one_lifeline_to_another_with_words(kind: Kind[Any]) -> None:
    facts = made(kind.facts, list(fields_of(kind.facts)))
    if kind.facts is PointStarted:  # its words are those of points that there are
        facts = PointStarted("Filter", "default/p")
    ends = [
        end if isinstance(end, str) else end(facts, RecordContext()) for end in (kind.line.source, kind.line.target)
    ]
    assert set(ends) <= set(TITLES)
    assert in_english(kind.line.words(facts))


def test_a_refusal_and_a_failure_are_marked() -> None:
    refused = PluginRan("Permit", "some", "default/p", {"code": "Unschedulable", "plugin": "", "reasons": []})
    failed, done = ApiCall("BIND", "default/p", fault="refused"), ApiCall("BIND", "default/p")
    records = [Record(1, 0, facts, "", 0) for facts in (refused, failed, done, PodForgotten("default/p"))]
    assert [row(record)["no"] for record in records] == [True, True, False, False]


def test_the_end_of_an_attempt_tells_more_than_its_beginning() -> None:
    assert RANK["attempt_ended"] < RANK["attempt_started"]
    assert "plugin_ran" not in RANK


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "PatchObject", "ref": Ref("Node", "", "n1")}, "Node n1 is changed."),
        ({"kind": "EvictPod", "pod": "default/web-1"}, "The eviction of web-1 is requested."),
        ({"kind": "DrainNode", "node": "n1"}, "n1 is being drained."),
        ({"kind": "PatchObject"}, "An object is changed."),
    ],
)
def test_a_command_says_what_it_is_about(fields: dict[str, Any], words: str) -> None:
    told = row(Record(1, 0, CommandRecord(**fields), "kube-scheduler", 0))
    assert in_english(told["sentence"]) == words


def test_a_chinese_value_in_a_chinese_sentence_takes_no_blanks() -> None:
    said = message("%(pod)s is missing on %(nodes)s.", pod="web", nodes=message("all %(n)s nodes", n=3))
    chinese = {
        "%(pod)s is missing on %(nodes)s.": "%(pod)s 不在 %(nodes)s 上。",
        "all %(n)s nodes": "全部 %(n)s 个节点",
    }
    assert format_message(said, chinese.__getitem__) == "web 不在全部 3 个节点上。"
