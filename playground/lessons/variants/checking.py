"""What is wrong with what a lesson varies: some variants are proven, and its words are held against what varies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.lessons.format import Lesson, Plan, Scalar, Vary, Words
from playground.lessons.texts import placeholders
from playground.lessons.variants.proof import Unproven, proven
from playground.lessons.varying.filling import find_value_names

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
            proven(lesson, seed, most_objects)
        except Unproven as error:
            yield f"variant {seed} can't be shown: {error}"


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
    """Names and quantities that vary, and stand in the words as they are written."""
    text = " ".join(words.texts())
    for name, value in lesson.drawn.items():
        if isinstance(value, str) and not value.isdecimal() and f"`{value}`" in text:
            yield f"it says `{value}`, which varies; {{{name}}} is expected"
