"""What is wrong with a field, in its reader's language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.translation import gettext, override

from playground.common.catalogs import read_yaml
from playground.presenters.problems import WORDS, describe_note, expectation, problem
from playground.presenters.words import format_message, in_english
from playground.sessions.protocol.breakpoints import BadBreakpoint, from_form
from playground.sessions.protocol.errors import problem as reported
from playground.sessions.protocol.errors import summarize_errors
from playground.sessions.protocol.until import NextUnschedulable
from playground.sessions.web.messages import Running
from scheduler_core.apimachinery.objects.errors import FieldError, invalid, wrong_type
from scheduler_core.formats.unsupported import notes, notes_of_configuration

CORE = Path(__file__).parents[3] / "scheduler_core"
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# kube's own words, and those of what is read with kube's rules.
KUBES = (
    "kubelet/configuration.py",
    "kubelet/thresholds.py",
    "leader_election.py",
    "policy.py",
    "labels.py",
    "api/",
    "analysis/fixes/shell.py",  # a call that it refuses proves nothing, and is not shown
)
CALLS = ("refuse", "FieldProblem", "wrong_type")


def in_chinese(error: FieldError) -> str:
    with override("zh-hans"):
        return format_message(problem(reported(error)), gettext)


def own_texts() -> Iterator[str]:
    """What the core says of fields in its own words, with a value's place held by 7."""
    for path in sorted(CORE.rglob("*.py")):
        name = str(path.relative_to(CORE))
        if "testing" in path.parts or any(kube in name for kube in KUBES):
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in CALLS:
                yield from (text for text in map(finished, call.args[2:3]) if text)


def finished(argument: ast.expr) -> str:
    match argument:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts) if isinstance(parts[0], ast.Constant) and isinstance(parts[0].value, str):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in parts)
    return ""


def known(text: str) -> str:
    """A text whose values are words of its own has them put in."""
    return text.replace("the kubelet of 7 7", "the kubelet of 7 already runs").replace(
        "7 is already 7", "7 is already partitioned"
    )


def test_every_own_text_of_the_core_has_words_in_chinese() -> None:
    texts = {known(text) for text in own_texts()}
    assert len(texts) > 40
    with override("zh-hans"):
        assert [text for text in sorted(texts) if not CHINESE.search(format_message(expectation(text), gettext))] == []


@pytest.mark.parametrize("text", [text for texts in read_yaml(WORDS).values() for text in texts])
def test_no_english_is_left_in_a_text(text: str) -> None:
    with override("zh-hans"):
        assert text == "null" or CHINESE.search(gettext(text))


def test_a_wrong_type_is_told_with_the_values() -> None:
    error = wrong_type("spec.replicas", "x", "a whole number")
    assert in_english(problem(reported(error))) == str(error)
    assert in_chinese(error) == 'spec.replicas: "x" 是字符串，应为整数'


def test_kubes_own_words_stay() -> None:
    error = invalid("metadata.name", "A", "a value")
    assert in_chinese(error) == str(error)


@pytest.mark.parametrize("said", ["the name of a node", "at most 12 custom plugins"])
def test_english_says_what_it_said(said: str) -> None:
    error = FieldError("node", "'x'", said)
    assert in_english(problem(reported(error))) == str(error)


def test_a_refusal_says_how_many_more_there_are() -> None:
    errors = [FieldError("node", "'x'", "the name of a node", "Node x"), invalid("a", 1, "b")]
    assert in_english(summarize_errors(errors)) == "Node x: node: 'x' the name of a node (and 1 more)"
    with override("zh-hans"):
        assert (
            format_message(summarize_errors(errors), gettext) == "Node x: node: 收到 'x'；应为节点的名称（另有 1 个）"
        )


def test_a_breakpoint_says_what_is_wrong_in_the_readers_language() -> None:
    with pytest.raises(BadBreakpoint, match="received nothing; expected at least one field") as caught:
        from_form({})
    assert caught.value.said is not None
    with override("zh-hans"):
        assert format_message(caught.value.said, gettext) == "收到空值；应为至少一个字段或一个表达式"


def test_a_run_says_in_each_readers_language_what_it_waits_for() -> None:
    running = Running("run", "", 0.0, 0, 0, None, NextUnschedulable().said())
    assert running.in_words("en").until == "the next pod is unschedulable"
    assert CHINESE.search(str(running.in_words("zh-hans").until))


@pytest.mark.parametrize(
    "text",
    [
        line
        for count in (1, 3)
        for line in notes(
            {"apiVersion": "v1", "kind": kind, "metadata": {"name": f"a{i}"}, "spec": {"dnsPolicy": "None"}}
            for i in range(count)
            for kind in ("Pod", "Service")
        )
    ]
    + notes_of_configuration({"enableProfiling": False}),
)
def test_a_note_on_what_has_no_effect_is_translated_whole(text: str) -> None:
    said = describe_note(text)
    assert in_english(said) == text
    with override("zh-hans"):
        assert "在这里不起作用：" in format_message(said, gettext)
        assert CHINESE.search(gettext(said["values"]["why"]["text"]))


def test_a_warning_of_kube_stays_as_it_is() -> None:
    assert in_english(describe_note("would violate PodSecurity")) == "would violate PodSecurity"
