"""What the authoring page shows: plain data for its template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy

from playground.lessons.authoring import Checked, LessonFiles, Moment, SeenCard, Writing
from playground.lessons.authoring.files import read_files
from playground.lessons.format import Card
from playground.views.lessons.changes import SPOTLIGHTS, as_field
from playground.views.lessons.words import of_moment, of_question

SPOTLIGHT_NAMES = {
    "map": gettext_lazy("the map of the nodes"),
    "queue": gettext_lazy("the queues"),
    "stage": gettext_lazy("the stage"),
    "points": gettext_lazy("the extension points"),
    "timeline": gettext_lazy("the timeline"),
}


class Choice(NamedTuple):
    """An option of a select."""

    value: str
    text: str
    chosen: bool
    key: str = ""
    drawn: bool = False


def page_of(files: LessonFiles, known: Checked, language: str) -> dict[str, Any]:
    """The lesson's own words, its cards, the moments that a card can be made for."""
    lesson = read_files(files)
    said = Writing(files, language).said
    seen = {card.id: card for card in known.cards}
    by_when = {_frozen(moment.when): moment for moment in known.moments}
    cards = [
        _card(number, card, seen.get(card.id), said["cards"].get(card.id) or {}, by_when)
        for number, card in enumerate(lesson.plan.cards, 1)
    ]
    return {
        "plan": lesson.plan,
        "said": said,
        "words": language,
        "cards": cards,
        "moments": _groups(
            known, {card["position"]: (card["number"], card["id"]) for card in cards if card["position"] >= 0}
        ),
        "questions": sum(bool(card["asks"]) for card in cards),
    }


def _card(
    number: int, card: Card, seen: SeenCard | None, words: Mapping[str, Any], moments: Mapping[str, Moment]
) -> dict[str, Any]:
    moment = moments.get(_frozen(card.when))
    questions = _questions(card, seen)
    return {
        "id": card.id,
        "number": number,
        "moment": of_moment(moment) if moment is not None else "",
        "again": moment.number if moment is not None else 1,
        "when": seen.when if seen is not None else "",
        "position": seen.position if seen is not None else -1,
        "words": words,
        "asks": card.question is not None,
        "acts": card.do is not None,
        "key": seen.key if seen is not None else "",
        "questions": questions,
        "drawn": any(each.chosen and each.drawn for each in questions),
        "spotlights": _spotlights(card.spotlight),
    }


def _questions(card: Card, seen: SeenCard | None) -> list[Choice]:
    chosen = as_field(card.question) if card.question is not None else ""
    found = [
        Choice(as_field(each.question), of_question(each), as_field(each.question) == chosen, each.key, each.drawn)
        for each in (seen.suggested if seen is not None else ())
    ]
    if card.question is not None and not any(each.chosen for each in found):
        answer = ", ".join(f"{word}: {value}" for word, value in card.question.answer.items())
        found.append(Choice(chosen, answer, True, seen.key if seen is not None else ""))
    return found


def _spotlights(chosen: str) -> list[Choice]:
    found = [Choice(name, str(SPOTLIGHT_NAMES[name]), name == chosen) for name in SPOTLIGHTS]
    if chosen and chosen not in SPOTLIGHTS:
        found.append(Choice(chosen, chosen, True))
    return found


def _groups(known: Checked, cards: Mapping[int, tuple[int, str]]) -> list[dict[str, Any]]:
    """Moments one after another, those of the same pod in one group."""
    groups: list[dict[str, Any]] = []
    for moment in known.moments:
        if not groups or groups[-1]["pod"] != moment.pod:
            groups.append({"pod": moment.pod, "moments": []})
        groups[-1]["moments"].append(
            {
                "position": moment.position,
                "seconds": moment.seconds,
                "text": of_moment(moment),
                "again": moment.number,
                "card": cards.get(moment.position, (0, ""))[0],
                "card_id": cards.get(moment.position, (0, ""))[1],
            }
        )
    return groups


def _frozen(when: Mapping[str, Any]) -> str:
    return str(sorted((str(word), str(value)) for word, value in when.items()))
