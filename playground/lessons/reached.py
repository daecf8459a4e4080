"""How far a world has come in a lesson."""

from __future__ import annotations

from itertools import takewhile

from playground.lessons.conditions import holds
from playground.lessons.format import Card, Lesson
from scheduler_core.world.readonly import WorldView


def list_reached_cards(lesson: Lesson, sim: WorldView) -> tuple[Card, ...]:
    """The cards whose conditions hold, up to the first whose doesn't."""
    return tuple(takewhile(lambda card: holds(card.when, sim), lesson.plan.cards))
