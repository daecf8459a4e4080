"""Goes through a lesson's world as far as it leads, whatever is wrong with its cards: what they can wait for, and what they can ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from playground.lessons.authoring.moments import Moment, Watch
from playground.lessons.conditions import holds
from playground.lessons.facts import Seen
from playground.lessons.format import Card, Lesson
from playground.lessons.play import begin_lesson, step
from playground.lessons.reading import command_of
from scheduler_core.world.commands import Refused
from scheduler_core.world.readonly import InvalidObject

MOST_STEPS = 6_000


@dataclass(frozen=True)
class Explored:
    """`positions`: where the cards stand that the world came to."""

    seen: Seen
    moments: list[Moment]
    positions: Mapping[str, int] = field(default_factory=dict)


def explore(lesson: Lesson) -> Explored:
    """The lesson's world to its end, each offer taken at its card, or at the end where the card never comes."""
    world, seen = begin_lesson(lesson)
    watch, positions, left = Watch(world), {}, MOST_STEPS

    def go_on() -> bool:
        nonlocal left
        left -= 1
        if left <= 0 or world.idle or not step(world, seen):
            return False
        watch.look(world)
        return True

    for card in lesson.plan.cards:
        there = holds(card.when, world)
        while not there and go_on():
            there = holds(card.when, world)
        if there:
            positions[card.id] = world.position
            seen.at[card.id] = world.fork()
        if card.do is not None:
            try:
                world.apply(command_of(card.do))
            except (Refused, InvalidObject):
                continue
            watch.look(world)
    while go_on():
        pass
    return Explored(seen, watch.moments, positions)


def anchor_cards(lesson: Lesson) -> Lesson:
    """The same with cards that wait for a position waiting for the last moment up to it instead, where there is one."""
    explored = explore(lesson)
    cards: list[Card] = []
    for card in lesson.plan.cards:
        moment = _last(explored.moments, int(card.when.get("position", -1)))
        taken = any(moment is not None and each.when == moment.when for each in cards)
        whole = card if moment is None or taken else msgspec.structs.replace(card, when=moment.when)
        cards.append(whole)
    return msgspec.structs.replace(lesson, plan=msgspec.structs.replace(lesson.plan, cards=tuple(cards)))


def _last(moments: list[Moment], position: int) -> Moment | None:
    return next((moment for moment in reversed(moments) if moment.position <= position), None)
