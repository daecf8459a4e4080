"""What the form of the authoring page says, put into the lesson's files."""

from __future__ import annotations

import json
from typing import NamedTuple

import msgspec
from django.http import QueryDict

from playground.lessons.authoring import Checked, LessonFiles, Moment, Suggestion, Writing
from playground.lessons.authoring.writing import CARD_WORDS, LESSON_WORDS
from playground.lessons.format import LANGUAGES, TRACKS, Question
from playground.views.lessons.words import default_words
from playground.views.responses import whole_number

SPOTLIGHTS = ("map", "queue", "stage", "points", "timeline")
MOST_MINUTES = 90


class Change(NamedTuple):
    """The files with what was sent, where the page goes on (a language, `files`, `try`, `share`), and the card that it is shown at."""

    files: LessonFiles
    goes: str = ""
    anchor: str = ""


def apply_changes(sent: QueryDict, files: LessonFiles, language: str, known: Checked) -> Change:
    """All fields are taken; then a button adds a card at a moment, removes one, or goes somewhere."""
    writing = Writing(files, language)
    writing.say({name: _text(sent, name) for name in LESSON_WORDS if name in sent})
    if sent.get("track") in TRACKS:
        writing.plan["track"] = sent["track"]
    minutes = whole_number(_text(sent, "minutes"), 4)
    if minutes is not None:
        writing.plan["minutes"] = min(max(minutes, 1), MOST_MINUTES)
    suggested = {card.id: card.suggested for card in known.cards}
    for card in list(writing.cards):
        if f"{card['id']}.text" in sent:
            _take_card(sent, writing, str(card["id"]), suggested.get(str(card["id"]), ()))
    anchor = _add_or_remove(sent, writing, known)
    goes = sent.get("goes", "")
    return Change(writing.files(), goes if goes in (*LANGUAGES, "files", "try", "share") else "", anchor)


def _take_card(sent: QueryDict, writing: Writing, card_id: str, suggested: tuple[Suggestion, ...]) -> None:
    said = {name: _text(sent, f"{card_id}.{name}") for name in CARD_WORDS if f"{card_id}.{name}" in sent}
    if f"{card_id}.spotlight" in sent:
        writing.set_on_card(card_id, "spotlight", sent[f"{card_id}.spotlight"][:100])
    asked = sent.get(f"{card_id}.question")
    if asked is not None:
        before = (writing.card(card_id) or {}).get("question")
        question = _question(asked)
        writing.set_on_card(card_id, "question", question)
        suggestion = next((each for each in suggested if as_field(each.question) == asked), None)
        if question is None:
            said |= {"ask": "", "right": "", "wrong": ""}
        elif suggestion is not None and question != before:
            defaults = default_words(suggestion, writing.language)
            said |= {name: text for name, text in defaults.items() if name == "ask" or not said.get(name)}
    writing.say_on_card(card_id, said)


def _question(asked: str) -> dict[str, object] | None:
    """A question as the plan writes it; None where nothing is asked or what was sent is no question."""
    try:
        question = msgspec.json.decode(asked.encode(), type=Question)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None
    return serialize_question(question)


def serialize_question(question: Question) -> dict[str, object]:
    """A question as the plan writes it: without what it does not say."""
    data: dict[str, object] = msgspec.to_builtins(question)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in data.items() if value}


def as_field(question: Question) -> str:
    """A question as the page's form has it."""
    return json.dumps(serialize_question(question), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _add_or_remove(sent: QueryDict, writing: Writing, known: Checked) -> str:
    """The fragment of the card that the page is shown at afterwards."""
    if (removed := sent.get("remove")) and writing.card(removed):
        writing.remove_card(removed)
        return "#cards"
    moment = _moment(sent.get("add", ""), known)
    if moment is not None:
        positions = {card.id: card.position for card in known.cards}
        ids = [str(card["id"]) for card in writing.cards]
        before = [number for number, each in enumerate(ids) if positions.get(each, -1) <= moment.position]
        return f"#card-{writing.add_card(moment.when, max(before, default=0) + 1)}"
    at = sent.get("at", "")
    return f"#card-{at}" if writing.card(at) else ""


def _moment(position: str, known: Checked) -> Moment | None:
    return next((each for each in known.moments if str(each.position) == position), None)


def _text(sent: QueryDict, name: str) -> str:
    return sent.get(name, "").replace("\r\n", "\n").strip()
