"""Variants of a lesson. Each is played by the engine, which proves that every question has one answer, before it is shown."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from playground.lessons.checking import problems_of_play
from playground.lessons.evidence import is_drawn
from playground.lessons.facts import Value
from playground.lessons.format import Lesson, Plan, Question, Scalar, Vary, Words
from playground.lessons.own import PlayedLesson
from playground.lessons.play import WRONG, Playthrough, play
from playground.lessons.proof import find_unshown
from playground.lessons.texts import placeholders
from playground.lessons.varying.declared import format_requirement
from playground.lessons.varying.filling import find_value_names, variants_of
from playground.lessons.varying.values import holds
from playground.lessons.whole import expand_lesson
from scheduler_core.world.commands import Refused
from scheduler_core.world.readonly import InvalidObject

# Proves that each question of a variant has one answer: the engine plays it to its end and does its task before anybody sees it.

MOST_TRIES = 20
OTHER_SEED = 1


class AmbiguousVariants(ValueError):
    """An error if no variant of a seed has one answer to each question, with the reason for the last one."""


def proven(lesson: Lesson, seed: str, most_objects: int) -> PlayedLesson:
    """Return the first valid variant of a seed as played. Raise Unproven after MOST_TRIES."""
    why = "no draw is what the lesson requires of its values"
    for variant in islice(variants_of(lesson, seed), MOST_TRIES):
        try:
            whole = expand_lesson(variant, most_objects)
            played = play(whole)
            found = next(faults(whole, played), "")
        except (Refused, InvalidObject, *WRONG) as error:
            found = str(error) or type(error).__name__
        if not found:
            return played.hand_on(whole)
        why = found
    raise AmbiguousVariants(why)


def faults(lesson: Lesson, played: Playthrough) -> Iterator[str]:
    """Yield the reasons for which a variant is not shown, a sentence each."""
    names = [
        (each.get("kind"), each["metadata"].get("namespace"), each["metadata"]["name"]) for each in lesson.plan.objects
    ]
    yield from (f"{kind} {name} is there twice" for kind, space, name in names if names.count((kind, space, name)) > 1)
    assert lesson.pattern is not None and isinstance(lesson.pattern.vary, Vary)
    for number, require in enumerate(lesson.pattern.vary.require):
        if not holds(require, played.facts):
            yield f"vary.require[{number}]: {format_requirement(lesson.pattern.vary, number)} does not hold"
    for card, question in lesson.questions:
        # The problems that leave several right answers, or two options that read the same.
        options = played.options[card]
        if len(set(options)) < len(options):
            yield f"card {card}: two of {', '.join(options)} read the same"
        if "node_of" in question.answer and is_drawn(played.evidence[card].said):
            yield f"card {card}: several nodes have the highest total, and a draw decides among them"
    yield from problems_of_play(lesson, played)
    other = play(lesson, OTHER_SEED).keys
    differing = [card for card, question in lesson.questions if not is_same(question, played.keys[card], other[card])]
    if differing:
        yield f"card {', '.join(differing)}: under another seed of the session the answer is another one"


def is_same(question: Question, key: Value, other: Value) -> bool:
    """Return True if an answer with one key is right with the other, a number within its tolerance."""
    if isinstance(key, int | float) and isinstance(other, int | float):
        return bool(abs(key - other) <= question.tolerance)
    return bool(key == other)


# What is wrong with what a lesson varies: some variants are proven, and its words are held against what varies.

CHECKED = ("1", "2", "3")
MOST_OBJECTS = 1_000


def problems_of_variants(lesson: Lesson, most_objects: int = MOST_OBJECTS) -> Iterator[str]:
    """Yield the problems of the variants, a sentence each; none if the lesson varies nothing."""
    pattern = lesson.pattern
    if pattern is None or not isinstance(pattern.vary, Vary):
        return
    yield from _find_unused_names(lesson, pattern, pattern.vary)
    for language, words in lesson.words.items():
        yield from (f"{language}.yaml: {what}" for what in _find_fixed_values(lesson, words))
    for seed in CHECKED:
        try:
            variant = proven(lesson, seed, most_objects).lesson
        except AmbiguousVariants as error:
            yield f"variant {seed} can't be shown: {error}"
        else:
            yield from (f"variant {seed}: {what}" for what in find_unshown(variant, play(variant)))


def _find_unused_names(lesson: Lesson, pattern: Plan, vary: Vary) -> Iterator[str]:
    groups: list[Mapping[Any, tuple[Scalar, ...]]] = [*vary.derived.values(), *vary.require]
    operands = {operand for group in groups for each in group.values() for operand in each}
    used = find_value_names(pattern) | placeholders(
        " ".join(text for words in lesson.words.values() for text in words.texts())
    )
    yield from (
        f"vary: nothing uses {name}; $({name}) or {{{name}}} is expected somewhere"
        for name in lesson.drawn
        if name not in used and name not in operands
    )


def _find_fixed_values(lesson: Lesson, words: Words) -> Iterator[str]:
    """Yield varying names and quantities that the words contain literally."""
    text = " ".join(words.texts())
    for name, value in lesson.drawn.items():
        if isinstance(value, str) and not value.isdecimal() and f"`{value}`" in text:
            yield f"it says `{value}`, which varies; {{{name}}} is expected"
