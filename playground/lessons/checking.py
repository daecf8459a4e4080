"""Checks of a lesson: plays it with right and wrong answers, and compares its languages."""

from collections.abc import Iterator, Sequence

import msgspec

from playground.lessons.facts import BadFact, Value
from playground.lessons.figures import read_figures
from playground.lessons.format import LANGUAGES, Lesson, Question, Words
from playground.lessons.judging import as_text, judge
from playground.lessons.play import Playthrough, StuckLesson, play, solve
from playground.lessons.proof import find_unshown
from playground.lessons.texts import ANSWER, placeholders
from scheduler_core.world.commands import Refused
from scheduler_core.world.readonly import InvalidObject

LEAST_QUESTIONS = 2


def problems(lesson: Lesson, slugs: frozenset[str] = frozenset()) -> list[str]:
    """Return the problems of a lesson, a sentence each; `slugs` are the lessons that `next` may name."""
    found = [*_of_plan(lesson, slugs), *problems_of_words(lesson)]
    try:
        played = play(lesson)
        return [*found, *problems_of_play(lesson, played), *find_unshown(lesson, played)]
    except (StuckLesson, BadFact, Refused, InvalidObject) as error:
        return [*found, str(error)]


def move_to_release(lesson: Lesson, release: str) -> Lesson | None:
    """Return the lesson in a world of this release, or None if it is for others or sets its release itself."""
    plan = lesson.plan
    if "release" in plan.settings or (plan.releases and release not in plan.releases):
        return None
    settings = {**plan.settings, "release": release}
    return msgspec.structs.replace(lesson, plan=msgspec.structs.replace(plan, settings=settings))


def problems_of_play(lesson: Lesson, played: Playthrough) -> list[str]:
    """Return the problems of the lesson's questions and task, as played."""
    return [*_of_questions(lesson, played), *_of_task(lesson, played)]


def _of_plan(lesson: Lesson, slugs: frozenset[str]) -> Iterator[str]:
    ids = [card.id for card in lesson.plan.cards]
    if len(set(ids)) != len(ids):
        yield "two cards have the same id"
    if lesson.plan.cards[0].when:
        yield f"card {ids[0]} is the first one, and has a condition: a lesson begins with its first card"
    if len(lesson.questions) < LEAST_QUESTIONS:
        yield f"it has {len(lesson.questions)} questions, and needs {LEAST_QUESTIONS}"
    if lesson.plan.task is None or any(not words.task or not words.sum_up for words in lesson.words.values()):
        yield "it ends without a task and a summing up"
    for card in lesson.plan.cards:
        if card.figure and card.figure not in read_figures():
            yield f"card {card.id}: there is no figure {card.figure}; there are {', '.join(read_figures())}"
    if lesson.plan.next and slugs and lesson.plan.next not in slugs:
        yield f"next: there is no lesson {lesson.plan.next}"


def problems_of_words(lesson: Lesson, languages: Sequence[str] = LANGUAGES) -> Iterator[str]:
    """Yield the problems of the lesson's words in the required languages."""
    for language in languages:
        words = lesson.words.get(language)
        if words is None:
            yield f"{language}.yaml is missing"
            continue
        yield from (f"{language}.yaml: {what}" for what in _in_language(lesson, words))
    if set(lesson.words) == set(LANGUAGES):
        yield from _same_places(lesson)


def _in_language(lesson: Lesson, words: Words) -> Iterator[str]:
    ids = [card.id for card in lesson.plan.cards]
    yield from (f"card {card} has no words" for card in ids if card not in words.cards)
    yield from (f"there is no card {card}" for card in words.cards if card not in ids)
    for card in lesson.plan.cards:
        said = words.cards.get(card.id)
        if said is None:
            continue
        if card.question is not None and not (said.ask and said.right and said.wrong):
            yield f"card {card.id} asks, and needs ask, right and wrong"
        if card.do is not None and not said.do:
            yield f"card {card.id} offers something, and needs do"
        known = {*lesson.plan.facts, *lesson.drawn}
        answers = placeholders(f"{said.right} {said.wrong}") - {ANSWER}
        unknown = (answers | placeholders(" ".join(said.texts(answers=False)))) - known
        yield from (f"card {card.id}: there is no fact {name}" for name in sorted(unknown))


def _same_places(lesson: Lesson) -> Iterator[str]:
    """Yield cards whose languages name different facts."""
    one, other = (lesson.words[language] for language in LANGUAGES)
    for card in one.cards.keys() & other.cards.keys():
        names = [placeholders(" ".join(words.cards[card].texts())) for words in (one, other)]
        if names[0] != names[1]:
            yield f"card {card}: the languages name different facts: {sorted(names[0] ^ names[1])}"


def _of_questions(lesson: Lesson, played: Playthrough) -> Iterator[str]:
    for card, question in lesson.questions:
        key, options = played.keys[card], played.options[card]
        names = key if isinstance(key, tuple) else (as_text(key),)
        if not all(names) or not names:
            yield f"card {card}: its question has no answer"
            continue
        if options and not set(names) <= set(options):
            yield f"card {card}: the answer {', '.join(names)} can't be chosen among {', '.join(options)}"
        if options and len(options) < 2:
            yield f"card {card}: there is nothing to choose from"
        if not judge(question, key, names).right:
            yield f"card {card}: the right answer is judged wrong"
        if judge(question, key, wrong_answer(question, key, options)).right:
            yield f"card {card}: a wrong answer is judged right"


def wrong_answer(question: Question, key: Value, options: tuple[str, ...]) -> tuple[str, ...]:
    if question.kind == "number":
        return (str(float(key) + 2 * question.tolerance + 1),)  # type: ignore[arg-type]
    if isinstance(key, tuple):
        rest = tuple(name for name in options if name not in key)
        return key[::-1] if question.kind == "order" and len(key) > 1 else rest[:1] or (*key, "nobody")
    return next(((name,) for name in options if name != as_text(key)), ("something else",))


def _of_task(lesson: Lesson, played: Playthrough) -> Iterator[str]:
    if lesson.plan.task is None:
        return
    assert played.last is not None
    before, after = solve(lesson, played.last)
    if before:
        yield "task: its check holds before anything is done"
    if not after:
        yield (
            "task: its check does not hold after the solution"
            if lesson.plan.task.solution
            else "task: its check does not hold after the solution, as it has none"
        )
