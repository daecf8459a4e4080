"""Lessons that people make: what is read from their files, what a check says of them, what a folder may hold."""

import io
import re
import zipfile
from pathlib import Path
from typing import get_args
from urllib.parse import urlencode

import msgspec
import pytest
import yaml
from django.core.management import call_command
from django.http import QueryDict

from playground.lessons import beginning, command_of, lesson_of
from playground.lessons.authoring import (
    BadFolder,
    LessonFiles,
    Writing,
    anchor_and_check,
    build_plan,
    check,
    dump_yaml,
    files_in,
    folder_of,
    pack_folder,
)
from playground.lessons.authoring.checking import explore
from playground.lessons.authoring.files import CardCondition
from playground.lessons.authoring.suggestions import suggestions
from playground.lessons.facts import FACTS
from playground.lessons.format import TRACKS, Card, CardAction, Kind, Plan, Question, Task
from playground.lessons.reading import CONTENT
from playground.views.lessons.editing import apply_changes, check_as_field, serialize_question
from playground.views.lessons.words import default_words, of_task
from scheduler_core.world.simulation import Grain, Simulation

ROOT = Path(__file__).resolve().parents[2]
MOST = 1000
LIMIT = 1 << 18
PLAN = """\
track: first-steps
minutes: 3
nodes: [{count: 2, name: 'node-{i}', cpu: '4', memory: 8Gi}]
pods: [{replicas: 2, name: web, requests: {cpu: '1', memory: 1Gi}}]
cards:
- id: begin
  question: {kind: pod, answer: {next_pod: true}}
- id: placed
  when: {pod: web-1, outcome: scheduled}
"""
WORDS = """\
title: Two pods
summary: Two pods, two nodes.
cards:
  begin: {text: Two pods wait., ask: 'Which is first?', right: 'Yes.', wrong: 'It is {answer}.'}
  placed: {text: It has a node.}
"""
BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


def checked(plan=PLAN, words=WORDS, chinese=""):
    return check(LessonFiles(plan, {"en": words, "zh-hans": chinese}), MOST)


def says(found):
    return [finding.text for finding in found.findings]


def test_a_lesson_in_one_language_without_a_task_is_whole():
    found = checked()
    assert says(found) == []
    assert [card.key for card in found.cards] == ["web-1", ""]
    assert found.document


@pytest.mark.parametrize("slug", ["gate", "preemption", "backoff"])
def test_a_lesson_that_is_there_has_nothing_wrong_with_it(slug):
    found = check(files_in(CONTENT / slug), MOST)
    assert says(found) == []
    assert found.document


def test_what_a_check_found_can_be_kept_as_json():
    found = checked()
    kept = msgspec.json.decode(msgspec.json.encode(msgspec.structs.replace(found, document=b"")))
    assert msgspec.convert(kept, type(found)).moments == found.moments


@pytest.mark.parametrize(
    ("plan", "words", "expected"),
    [
        ("track: [", WORDS, ("lesson.yaml", 2, "not YAML")),
        ("- 1", WORDS, ("lesson.yaml", 1, "a mapping is expected")),
        (PLAN.replace("minutes: 3", "minutes: soon"), WORDS, ("lesson.yaml", 2, "minutes")),
        (PLAN.replace("outcome:", "outcum:"), WORDS, ("lesson.yaml", 9, "outcum")),
        (PLAN.replace("pod: web-1, ", ""), WORDS, ("lesson.yaml", 9, "pod is expected beside it")),
        (PLAN, WORDS.replace("title:", "titel:"), ("en.yaml", 1, "titel")),
        (PLAN, "", ("en.yaml", 0, "needs words")),
        (f"{BOMB}{PLAN}", WORDS, ("lesson.yaml", 0, "more than 50,000 values")),
        ("a: &a [*a]", WORDS, ("lesson.yaml", 0, "values")),
        ("[" * 100 + "]" * 100, WORDS, ("lesson.yaml", 0, "nests deeper")),
        # libyaml reads ahead, and since 0.2.6 stops by itself before any value of this one is seen.
        ("[" * 120_000 + "]" * 120_000, WORDS, ("lesson.yaml", 1, "nesting depth")),
        ("%TAG ! tag:a\n" * 20, WORDS, ("lesson.yaml", 0, "begin with %")),
        ("a: !!python/object/apply:os.system [id]", WORDS, ("lesson.yaml", 1, "not YAML")),
    ],
)
def test_a_file_that_can_not_be_read_says_where(plan, words, expected):
    (found,) = checked(plan, words).findings
    assert (found.file, found.line) == expected[:2]
    assert expected[2] in found.text


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("outcome: scheduled", "outcome: unschedulable", "the step of card placed is never reached"),
        ("next_pod: true", "node_of: nobody", "nobody has 0 attempts"),
        ("next_pod: true", "nothing: true", "a fact has one of"),
        ("id: placed", "id: begin", "two cards have the id begin"),
        ("minutes: 3", "minutes: 3\nnext: nowhere", "next: there is no lesson nowhere"),
        ("cpu: '4'", "cpu: lots", "lots"),
    ],
)
def test_what_can_not_be_played_is_said_and_the_moments_stay(before, after, expected):
    found = checked(PLAN.replace(before, after))
    assert any(expected in each for each in says(found)), says(found)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It has a node.", "''", "card placed says nothing"),
        ("It has a node.", "'{node}'", "there is no fact node"),
        ("title: Two pods", "title: ''", "the lesson has no title"),
        (", wrong: 'It is {answer}.'", "", "needs ask, right and wrong"),
        ("  placed: {text: It has a node.}\n", "", "card placed has no words"),
    ],
)
def test_what_is_wrong_with_the_words_is_said(before, after, expected):
    assert any(expected in each for each in says(checked(words=WORDS.replace(before, after))))


def test_moments_come_in_order_one_at_a_step():
    moments = checked().moments
    assert [each.detail for each in moments if each.kind == "outcome"] == ["scheduled", "scheduled"]
    assert [each.position for each in moments] == sorted({each.position for each in moments})


def test_a_card_at_each_moment_is_a_lesson():
    files = LessonFiles(PLAN, {"en": WORDS})
    for moment in check(files, MOST).moments:
        writing = Writing(files, "en")
        writing.remove_card("placed")
        card = writing.add_card(moment.when, 1, "Here.")
        found = check(writing.files(), MOST)
        assert says(found) == []
        assert [seen.position for seen in found.cards if seen.id == card] == [moment.position]


@pytest.mark.parametrize(("slug", "number"), [("nominated", 0), ("preemption", 0), ("backoff", 1)])
def test_every_suggested_question_can_be_asked(slug, number):
    files = files_in(CONTENT / slug)
    seen = check(files, MOST).cards[number]
    assert {"scheduled", "feasible", "attempts"} <= {each.what for each in seen.suggested}
    for suggestion in seen.suggested:
        writing = Writing(files, "en")
        writing.set_on_card(seen.id, "question", serialize_question(suggestion.question))
        for words in writing.words.values():
            words["cards"][seen.id] |= {"ask": "?", "right": "yes", "wrong": "{answer}"}
        found = check(writing.files(), MOST)
        assert says(found) == []
        assert found.cards[number].key == suggestion.key


@pytest.mark.parametrize(("slug", "drawn"), [("two-configurations", True), ("first-placement", False)])
def test_a_question_that_a_draw_decides_is_marked_and_a_draft_tells_the_engines_reasons(slug, drawn):
    lesson = lesson_of(slug)
    about = next(each for each in suggestions(lesson.plan.cards[0], explore(lesson).seen) if each.what == "node")
    assert about.drawn is drawn
    assert all(f"`{node}`: {text}." in default_words(about, "en")["wrong"] for node, text in about.said)
    assert drawn or dict(about.said)["small"].startswith("NodeResourcesFit: Insufficient cpu")


STUCK = (
    PLAN.replace("cpu: '1', memory", "cpu: '3', memory").replace("count: 2", "count: 1")
    + """\
- id: waits
  when: {pod: web-2, outcome: unschedulable}
"""
)


def test_a_suggested_task_comes_with_a_solution_that_the_check_takes():
    words = {"en": WORDS + "  waits: {text: It waits.}\n"}
    known = check(LessonFiles(STUCK, words), MOST)
    assert [dict(each.task.check) for each in known.tasks] == [
        {"pod": "web-2", "outcome": "scheduled"},
        {"pod": "mine", "on": "node-1"},
    ]
    for each in known.tasks:
        chosen = QueryDict(urlencode({"goal": check_as_field(each.task)}))
        change = apply_changes(chosen, LessonFiles(STUCK, words), "en", known)
        assert yaml.safe_load(change.files.words["en"])["task"] == of_task(each, "`")
        found = check(change.files, MOST)
        assert says(found) == []
        again = apply_changes(QueryDict("goal="), change.files, "en", found).files
        assert "task" not in yaml.safe_load(again.plan) and "task" not in yaml.safe_load(again.words["en"])


def test_a_card_moves_to_another_stop_and_the_stops_keep_their_order():
    writing = Writing(LessonFiles(PLAN, {"en": WORDS}), "en")
    writing.move_card("placed", 0)
    assert [(card["id"], card.get("when")) for card in writing.cards] == [
        ("placed", None),
        ("begin", {"pod": "web-1", "outcome": "scheduled"}),
    ]
    assert says(check(writing.files(), MOST)) == []
    writing.move_card("placed", 99)
    assert [card["id"] for card in writing.cards] == ["begin", "placed"]


def test_a_session_becomes_a_lesson_with_its_changes_as_offers():
    lesson = lesson_of("gate")
    world, log = Simulation(seed=0), []

    def apply(command):
        log.append((world.position, msgspec.to_builtins(command)))
        world.apply(command)

    for command in beginning(lesson.plan):
        apply(command)
    world.step(Grain.POD)
    apply(command_of(lesson.plan.cards[1].do))
    plan = build_plan(log, None)
    assert [card["id"] for card in plan["cards"]] == ["begin", "change-1"]
    words = {"title": "Gate", "summary": "", "cards": {"begin": {"text": "a"}, "change-1": {"text": "b", "do": "c"}}}
    found = anchor_and_check(LessonFiles(dump_yaml(plan), {"en": dump_yaml(words)}), MOST)
    assert says(found) == []
    moved = yaml.safe_load(found.files.plan)
    assert moved["cards"][1]["when"] == {"pod": "web", "outcome": "scheduled"}
    assert any(m.pod == "job" and m.detail == "scheduled" for m in found.moments)


def test_a_folder_is_packed_and_unpacked():
    files = LessonFiles(PLAN, {"en": WORDS, "zh-hans": ""})
    data = pack_folder("two-pods", files)
    assert zipfile.ZipFile(io.BytesIO(data)).namelist() == ["two-pods/lesson.yaml", "two-pods/en.yaml"]
    assert folder_of([("two-pods.zip", data)], LIMIT) == files
    given = [("lesson.yaml", PLAN.encode()), ("en.yaml", WORDS.encode())]
    assert folder_of(given, LIMIT) == files


def zipped(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (zipped(**{"a/lesson.yaml": "x", "b/lesson.yaml": "y"}), "two files lesson.yaml"),
        (zipped(**{"a/readme.md": "x"}), "there is no lesson.yaml"),
        (zipped(**{"lesson.yaml": b"\xff\xfe"}), "not UTF-8 text"),
        (zipped(**{"lesson.yaml": b"0" * (1 << 22)}), ""),
        (b"PK\x03\x04 and nothing", ""),
    ],
)
def test_a_folder_that_is_none_is_refused(data, expected):
    with pytest.raises(BadFolder) as refused:
        folder_of([("lesson.zip", data)], LIMIT)
    assert expected in str(refused.value)


def test_names_that_lead_elsewhere_are_read_as_names_alone(tmp_path):
    data = zipped(**{"../../../etc/lesson.yaml": PLAN, "/root/en.yaml": WORDS})
    try:
        files = folder_of([("lesson.zip", data)], LIMIT)
    except BadFolder:
        return
    assert files.plan == PLAN


def test_what_stands_in_the_files_stays_as_the_page_changes_them():
    files = files_in(CONTENT / "gate")
    assert check(Writing(files, "en").files(), MOST).slug == check(files, MOST).slug


def test_the_first_card_has_no_condition_whatever_is_removed():
    writing = Writing(LessonFiles(PLAN, {"en": WORDS}), "en")
    writing.remove_card("begin")
    assert [card.get("when") for card in writing.cards] == [None]
    writing.remove_card("placed")
    assert len(writing.cards) == 1


def documented():
    """The files of docs/lessons.md's example, by their names."""
    text = (ROOT / "docs/lessons.md").read_text(encoding="utf-8")
    return dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, re.DOTALL))


def test_the_documented_lesson_is_one(tmp_path):
    folder = tmp_path / "room"
    folder.mkdir()
    for name, text in documented().items():
        (folder / name).write_text(text, encoding="utf-8")
    found = check(files_in(folder), MOST)
    assert says(found) == []
    assert [card.key for card in found.cards if card.key] == ["large", "0"]
    out = io.StringIO()
    call_command("lessons", str(folder), "--check", stdout=out)
    cells = out.getvalue().splitlines()[-1].split()
    assert cells == ["room", "placement", "en", "3", "2", "3", "ok"]
    assert "  ".join(cells) in (ROOT / "docs/lessons.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("plan", "status", "expected"),
    [(PLAN.replace("id: placed", "id: begin"), 1, "two cards"), (PLAN + "more: 1", 2, "lesson.yaml:10")],
)
def test_the_command_says_what_is_wrong_with_a_folder(tmp_path, plan, status, expected):
    (tmp_path / "lesson.yaml").write_text(plan)
    (tmp_path / "en.yaml").write_text(WORDS)
    errors = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("lessons", str(tmp_path), stdout=io.StringIO(), stderr=errors)
    assert ended.value.code == status
    assert expected in errors.getvalue()


def test_every_word_of_the_format_is_documented():
    """Conditions, facts and kinds of questions: what files can say stands in docs/lessons.md."""
    text = (ROOT / "docs/lessons.md").read_text(encoding="utf-8")
    named = {field.encode_name for field in msgspec.structs.fields(CardCondition)}
    named |= {
        field.encode_name for kind in (Plan, Card, Question, CardAction, Task) for field in msgspec.structs.fields(kind)
    }
    named |= {*FACTS, *get_args(Kind), *TRACKS}
    assert sorted(name for name in named if not re.search(rf"`[^`]*\b{name}\b[^`]*`", text)) == []
