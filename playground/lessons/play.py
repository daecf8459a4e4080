"""Plays a lesson with the engine: finds the steps of its cards, its facts, and its keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile

from playground.lessons.conditions import holds
from playground.lessons.evidence import STAGES, Evidence, evidence_of, is_known, refusals
from playground.lessons.facts import LessonObservations, PluginRun, Points, Value, value_of
from playground.lessons.format import Card, Lesson, Mistake
from playground.lessons.meant import find_meanings
from playground.lessons.named import pod_key, short
from playground.lessons.own import PlayedLesson, find_handed
from playground.lessons.reading import beginning, command_of, lesson_of
from playground.lessons.texts import ANSWER
from scheduler_core.world.readonly import CycleView, SchedulingCycleView, WorldView
from scheduler_core.world.simulation import Grain, Simulation

# What a lesson that nobody has proved yet can come to, beyond what the engine refuses in words.
WRONG = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
MOST_STEPS = 20_000
World = Simulation  # for modules that may name it, but make none
# Some worlds never come to rest: a drain asks again for ever, and a ReplicaSet tries the same refused pod again.
MOST_SETTLING, MOST_IDLE = 2_000, 300


def list_reached_cards(lesson: Lesson, sim: WorldView) -> tuple[Card, ...]:
    """Return the cards whose conditions hold, up to the first whose condition does not."""
    return tuple(takewhile(lambda card: holds(card.when, sim), lesson.plan.cards))


class StuckLesson(ValueError):
    """A world that ended, or ran too far, before a card's condition held."""


@dataclass(frozen=True)
class Playthrough:
    """A playthrough. `positions`: the step of each card. `facts`: the values in its texts, including drawn ones.

    `keys` and `options`: of each question, by its card. `evidence`: the attempt from which a question's key was read, if any. `revealed`:
    the cards whose step shows the answer. `meant`: the meanings of wrong numbers, by card.
    """

    positions: Mapping[str, int]
    facts: Mapping[str, Value]
    keys: Mapping[str, Value]
    options: Mapping[str, tuple[str, ...]]
    evidence: Mapping[str, Evidence]
    last: Simulation | None = field(repr=False)  # none where it was played elsewhere
    seen: LessonObservations | None = field(repr=False)
    revealed: tuple[str, ...] = ()
    meant: Mapping[str, tuple[Mistake, ...]] = field(default_factory=dict)

    @property
    def end(self) -> WorldView | None:
        """The world at the end; None if the lesson was played elsewhere."""
        return None if self.seen is None else self.seen.end

    def hand_on(self, lesson: Lesson) -> PlayedLesson:
        """Return the lesson with the results of playing it, without the worlds."""
        found = (self.positions, self.facts, self.keys, self.options, self.evidence)
        return PlayedLesson(lesson, *found, self.revealed, self.meant)

    def values_at(self, card: str) -> dict[str, Value]:
        """Return the values for the names in a card's texts: the facts and, if it asks, its own key."""
        return {**self.facts, **({ANSWER: self.keys[card]} if card in self.keys else {})}


def play(lesson: Lesson, seed: int = 0) -> Playthrough:
    """The lesson from its first card to its end, each offer taken at its card; raises StuckLesson, BadFact or Refused."""
    world, seen = begin_lesson(lesson, seed)
    positions, last = {}, world
    for card in lesson.plan.cards:
        _go_on(world, seen, lesson.slug, card.id, card.when)
        _require_alone(lesson, card.id, world)
        positions[card.id] = world.position
        seen.at[card.id] = last = world.fork()
        cycle = world.schedulers[0].cycle if world.schedulers else None
        if cycle is not None and cycle.scores is not None:
            seen.board[card.id] = _points_of(cycle)
        if card.do is not None:
            world.apply(command_of(card.do))
    _settle(world, seen)
    first = lesson.plan.cards[0].id
    keys = {card: value_of(question.answer, seen, card) for card, question in lesson.questions}
    return Playthrough(
        positions,
        {**lesson.drawn, **{name: value_of(fact, seen, first) for name, fact in lesson.plan.facts.items()}},
        keys,
        {card: question.among or options_at(question.kind, seen, card) for card, question in lesson.questions},
        {
            card: found
            for card, question in lesson.questions
            if (found := evidence_of(question.answer, seen)) is not None
        },
        last,
        seen,
        tuple(
            card
            for card, question in lesson.questions
            if any(word in STAGES for word in question.answer)
            and is_known(
                {**question.answer, "card": question.answer.get("card", card)}, keys[card], card, seen, positions
            )
        ),
        {card: find_meanings(card, question, keys[card], seen, lesson.plan) for card, question in lesson.questions},
    )


def begin_lesson(lesson: Lesson, seed: int = 0) -> tuple[Simulation, LessonObservations]:
    """Return the lesson's world before its first step, and the (still empty) observations of it."""
    world = Simulation(seed=seed)
    for command in beginning(lesson.plan):
        world.apply(command)
    return world, LessonObservations(world)


def find_playthrough(slug: str, seed: int) -> Playthrough | None:
    """Return the cached playthrough of a lesson by name, or None. Users' lessons contain theirs."""
    own = find_handed(slug)
    if own is not None:
        return Playthrough(
            own.positions, own.facts, own.keys, own.options, own.evidence, None, None, own.revealed, own.meant
        )
    return _play_once(slug, seed)


@lru_cache(maxsize=64)
def _play_once(slug: str, seed: int) -> Playthrough | None:
    lesson = lesson_of(slug)
    return None if lesson is None else play(lesson, seed)


def solve(lesson: Lesson, last: Simulation) -> tuple[bool, bool]:
    """Return whether the task's check holds at its start, on a fork of the last card's step, and after its solution.

    Raise StuckLesson if the task's start takes the last card away, with which the task is shown.
    """
    world, task = last.fork(), lesson.plan.task
    assert task is not None
    for act in task.start:
        world.apply(command_of(act))
        if act.until is not None:
            _settle(world, LessonObservations(world), act.until)
    if list_reached_cards(lesson, world)[-1] is not lesson.plan.cards[-1]:
        raise StuckLesson("task: after its start the last card does not hold, and the task is not shown")
    before = holds(task.check, world)
    for act in task.solution:
        world.apply(command_of(act))
        _settle(world, LessonObservations(world), act.until)
    return before, holds(task.check, world)


def _go_on(world: Simulation, seen: LessonObservations, slug: str, card: str, when: Mapping[str, object]) -> None:
    for _ in range(MOST_STEPS):
        if holds(when, world):
            return
        if world.idle or not step(world, seen):
            break
    raise StuckLesson(f"{slug}: the step of card {card} is never reached; it asks for {dict(when)}")


def _require_alone(lesson: Lesson, card: str, world: Simulation) -> None:
    """Require that no later card holds at a card's step, because the screen would skip the card."""
    last = list_reached_cards(lesson, world)[-1].id
    if last != card:
        raise StuckLesson(f"card {card} is passed over: card {last} comes at the same step")


def _settle(world: Simulation, seen: LessonObservations, until: Mapping[str, object] | None = None) -> None:
    idle = 0
    for _ in range(MOST_SETTLING):
        idle = idle + 1 if world.idle and until is None else 0
        if idle > MOST_IDLE or (until is not None and holds(until, world)) or not step(world, seen):
            return


def step(world: Simulation, seen: LessonObservations) -> bool:
    """Advance the world by one plugin step and record its results. Return True if the world moved on."""
    before = world.position
    world.step(Grain.CALL)
    for scheduler in world.schedulers:
        # Keep the records of the plugins that ran in this step of the world.
        position = world.position
        cycles: list[CycleView] = [*scheduler.bindings.values()]
        for cycle in cycles if scheduler.cycle is None else [scheduler.cycle, *cycles]:
            for ran in reversed(cycle.steps):
                if ran.position != position:
                    break
                seen.ran.append(PluginRun(position, cycle.pod.key, ran.point.value, ran.plugin))
        if scheduler.cycle is not None and scheduler.cycle.outcome:
            seen.refused.setdefault(len(world.journal.attempts), refusals(scheduler.cycle))
        if scheduler.cycle is not None and scheduler.cycle.scores is not None and scheduler.cycle.outcome:
            seen.points.setdefault(len(world.journal.attempts), _points_of(scheduler.cycle))
    return world.position > before


def _points_of(cycle: SchedulingCycleView) -> Points:
    board = cycle.scores
    assert board is not None
    names = [cycle.nodes.names[row] for row in board.rows]
    stages = {"raw": board.raw, "normalized": board.normalized, "weighted": board.weighted}
    points: dict[str, dict[str, dict[str, float]]] = {stage: {name: {} for name in names} for stage in stages}
    for stage, vectors in stages.items():
        for plugin, scores in zip(board.plugins, vectors, strict=True):
            for name, score in zip(names, scores, strict=True):
                points[stage][name][plugin] = int(score)
    if board.total is not None:
        for name, score in zip(names, board.total, strict=True):
            points["weighted"][name]["total"] = int(score)
    return points


def options_at(kind: str, seen: LessonObservations, card: str) -> tuple[str, ...]:
    """Return the options on the screen at a card's step."""
    world = seen.at[card]
    if kind == "node":
        return tuple(sorted(node["metadata"]["name"] for node in world.store.list("Node")))
    if kind in ("pod", "victims", "order"):
        return tuple(sorted(short(pod_key(pod["metadata"])) for pod in world.store.list("Pod")))

    return ("yes", "no") if kind == "yesno" else ()
