"""The lesson panel: the cards reached so far, the latest one open with its question and action, and at the end the task."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Required, TypedDict

from playground.lessons import (
    Card,
    Lesson,
    Playthrough,
    fill_placeholders,
    find_playthrough,
    lesson_of,
    list_reached_cards,
)
from playground.lessons.conditions import holds
from playground.lessons.figures import read_figures
from playground.lessons.named import key_of
from playground.lessons.own import PlayedLesson
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.story.goals import Goal, TaskData, list_given, list_goals, list_named_pods
from scheduler_core.world.readonly import WorldView


class CardWords(TypedDict):
    text: str
    ask: str
    do: str


class Neighbours(TypedDict):
    """The steps of a card's neighbors if the lesson is played as written."""

    before: int | None
    acts: bool
    past: bool
    after: int | None


class StoryQuestion(TypedDict):
    kind: str
    options: list[str]
    places: list[int]


class StoryFigure(TypedDict):
    name: str
    title: dict[str, str]


class StoryCard(Neighbours):
    """`stage`, `pod`, and `plugin`: what the stage shows. `given`: the data known before the answer."""

    number: int
    words: dict[str, CardWords]
    spotlight: str
    stage: str
    pod: str
    plugin: str
    question: StoryQuestion | None
    veiled: bool
    given: TaskData | None
    figure: StoryFigure | None


class EndWords(TypedDict):
    task: str
    sum_up: str


class StoryEnd(TypedDict):
    """The task, its goals, whether it is done, and the next lesson."""

    words: dict[str, EndWords]
    tasked: bool
    goals: list[Goal]
    done: bool
    gangs: bool
    next: str
    next_title: dict[str, str]


class StoryContext(TypedDict, total=False):
    title: Required[dict[str, str] | None]
    chapters: Required[list[StoryCard]]
    slug: str
    lesson: str
    variant: str
    varies: bool
    asks: bool
    latest: StoryCard | None
    begin: Neighbours
    of: int
    bar: list[bool]
    end: StoryEnd | None


def present(sim: WorldView, look: Look, story: str = "") -> Panel[StoryContext, Any]:
    """Return the panel of a lesson at this step; empty without a lesson."""
    lesson = lesson_of(story) if story else None
    played = find_playthrough(story, sim.seed) if lesson is not None else None
    if lesson is None or played is None:
        return Panel("story", {"title": None, "chapters": []})
    reached = list_reached_cards(lesson, sim)
    past = look.at is not None
    cards = [_card(lesson, card, number, played, past) for number, card in enumerate(reached, 1)]
    if reached and reached[-1].question is not None:
        card, spoken = reached[-1], lesson.words.get("en") or next(iter(lesson.words.values()))
        words = spoken.cards[card.id]
        text = f"{words.text} {words.ask}"
        cards[-1]["given"] = list_given(sim, list_named_pods(card), "scheduler" in card.when, text)
    of = len(lesson.plan.cards)
    return Panel(
        "story",
        {
            "slug": story,
            "lesson": lesson.origin or story,
            "variant": lesson.variant,
            "varies": lesson.pattern is not None,
            "title": lesson.titles,
            "chapters": cards[:-1],
            "latest": cards[-1] if cards else None,
            "begin": {"before": None, "acts": False, "past": past, "after": played.positions[lesson.plan.cards[0].id]},
            "of": of,
            "bar": [number <= len(cards) for number in range(1, of + 1)],
            "end": _end(lesson, sim, played) if len(cards) == of else None,
        },
    )


def preview_card(
    lesson: Lesson, card_id: str, handed: PlayedLesson | None, options: Mapping[str, tuple[str, ...]]
) -> Panel[StoryContext, Any] | None:
    """Return the panel at one card of a lesson in the editor, from its last playthrough; None for an unknown card."""
    ids = [card.id for card in lesson.plan.cards]
    if card_id not in ids:
        return None
    number, of = ids.index(card_id) + 1, len(ids)
    keys = dict.fromkeys(ids, "")
    positions: dict[str, int] = {each: place for place, each in enumerate(ids)}
    played = Playthrough(positions, {}, keys, {**dict.fromkeys(ids, ()), **options}, {}, None, None)
    if handed is not None:
        played = replace(played, facts=handed.facts, keys={**keys, **handed.keys})
    latest = _card(lesson, lesson.plan.cards[number - 1], number, played, False)
    return Panel(
        "story",
        {
            "slug": "",
            "lesson": "",
            "variant": "",
            "varies": False,
            "asks": latest["question"] is not None,
            "title": lesson.titles,
            "chapters": [],
            "latest": latest,
            "begin": {"before": None, "acts": False, "past": False, "after": 0},
            "of": of,
            "bar": [place < number for place in range(of)],
            "end": _end(lesson, None, played) if number == of else None,
        },
    )


def _card(lesson: Lesson, card: Card, number: int, played: Playthrough, past: bool) -> StoryCard:
    ids, figure = [each.id for each in lesson.plan.cards], read_figures().get(card.figure)
    evidence = played.evidence.get(card.id)
    seen = evidence is not None and evidence.position <= played.positions[card.id]
    return {
        "number": number,
        "words": {
            language: {
                "text": fill_placeholders(words.cards[card.id].text, played.facts),
                "ask": fill_placeholders(words.cards[card.id].ask, played.facts),
                "do": fill_placeholders(words.cards[card.id].do, played.facts),
            }
            for language, words in lesson.words.items()
        },
        "acts": card.do is not None,
        "spotlight": card.spotlight,
        "stage": card.stage,
        "pod": key_of(card.pod or str(card.when["pod"])) if card.stage and (card.pod or "pod" in card.when) else "",
        "plugin": card.plugin,
        "given": None,
        "figure": {"name": card.figure, "title": dict(figure.title)} if figure is not None else None,
        "question": _question(card, played),
        "veiled": (seen or card.id in played.revealed),
        "before": played.positions[ids[number - 2]] if number > 1 else None,
        "past": past,
        "after": played.positions[ids[number]] if number < len(ids) else None,
    }


def _question(card: Card, played: Playthrough) -> StoryQuestion | None:
    """Return a card's question, without its key: an answer is judged in the worker (JudgeAnswer)."""
    if card.question is None:
        return None
    key = played.keys[card.id]
    return {
        "kind": card.question.kind,
        "options": list(played.options[card.id]),
        "places": list(range(len(key))) if card.question.kind == "order" and isinstance(key, tuple) else [],
    }


GANGS = ("gang-deadlock-ends", "gang-quorum", "gangs", "group-preempts", "rack-for-a-job")  # with gangs to compare


def _end(lesson: Lesson, sim: WorldView | None, played: Playthrough) -> StoryEnd:
    check = lesson.plan.task.check if lesson.plan.task is not None and sim is not None else None
    following = lesson_of(lesson.plan.next) if lesson.plan.next else None
    return {
        "words": {
            language: {
                "task": fill_placeholders(words.task, played.facts),
                "sum_up": fill_placeholders(words.sum_up, played.facts),
            }
            for language, words in lesson.words.items()
        },
        "tasked": lesson.plan.task is not None,
        "goals": list_goals(check, sim) if check is not None and sim is not None else [],
        "done": check is not None and sim is not None and holds(check, sim),
        "gangs": lesson.slug in GANGS,
        "next": lesson.plan.next,
        "next_title": {} if following is None else {name: w.title for name, w in following.words.items()},
    }
