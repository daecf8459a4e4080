"""Requests of comparisons to one session's engine: an outline of its history, its attempts in detail; and searches in the history.

No request takes long: outlines read the journal, digests are computed for as many attempts as half a second allows.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol import comparing
from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.until import CheckExpression, SearchProgress
from playground.sessions.worker.answers.configurations import get_configurations
from playground.sessions.worker.conditions.matching import Condition, Matcher, problems
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, Task, answers
from playground.sessions.worker.world import Simulation, digest
from scheduler_core.world.readonly import Attempt, SchedulingCycleView

MOST_ATTEMPTS = 20_000
MOST_PODS = 20_000
MOST_RESOURCES = 8
POINTS = 240
PATIENCE = 0.5
NODES = 12
TOO_MUCH = gettext_noop("The comparison needs more memory than the limit and was stopped. The sessions are unchanged.")


@answers(comparing.Outline, too_much=TOO_MUCH)
def outline(engine: Engine, request: comparing.Outline) -> Steps[comparing.HistoryOutline]:
    world = (yield from engine.at(request.position)).fork()  # a copy, because the head may move between slices
    yield
    journal = world.journal
    ended_later = (i for i, attempt in enumerate(journal.attempts) if attempt.last_position > request.since)
    first = next(ended_later, len(journal.attempts))
    pods = {}
    for key in list(journal.last_move)[:MOST_PODS]:
        pods[key] = _pod(world, key)
        if engine.slice.over():
            yield
    return comparing.HistoryOutline(
        head=request.position,
        now=world.now,
        idle=bool(world.idle),
        first=first,
        attempts=[
            comparing.OutlinedAttempt(**_fields(attempt)) for attempt in journal.attempts[first : first + MOST_ATTEMPTS]
        ],
        pods=pods,
        cut=len(journal.last_move) > MOST_PODS or len(journal.attempts) - first > MOST_ATTEMPTS,
        nodes=world.store.count("Node"),
        tried=len(journal.attempts),
        resources=_resources(world),
        bound=_count_bound_over_time(world),
        configuration=get_configurations(world),
    )


def _fields(attempt: Attempt) -> dict[str, Any]:
    return {name: getattr(attempt, name) for name in comparing.OutlinedAttempt.__struct_fields__}


def _pod(world: Simulation, key: str) -> comparing.OutlinedPod:
    move = world.journal.moves[world.journal.last_move[key]]
    pod = world.store.pod_at(key)
    return comparing.OutlinedPod(pod.node_name if pod is not None else "", move.place, move.position)


def _resources(world: Simulation) -> list[comparing.ResourceUse]:
    """Return the requested and the allocatable amount of each resource of the nodes."""
    table = world.schedulers[0].cache.table()
    sums = [
        comparing.ResourceUse(name, int(table.requested[:, i].sum()), int(table.allocatable[:, i].sum()))
        for i, name in enumerate(table.resources.names)
        if i < table.allocatable.shape[1]
    ]
    sums.insert(2, comparing.ResourceUse("pods", int(table.pod_count.sum()), int(table.allowed_pods.sum())))
    return [use for use in sums if use.allocatable][:MOST_RESOURCES]


def _count_bound_over_time(world: Simulation) -> list[tuple[int, int]]:
    """Return (virtual time, number of pods with a node) for each change of that number, thinned to POINTS."""
    bound: dict[str, None] = {}
    points: dict[int, int] = {0: 0}
    for move in world.journal.moves:
        if move.place in ("bound", "running"):
            bound[move.pod] = None
        elif move.place == "deleted":
            bound.pop(move.pod, None)
        if points.get(move.t) != len(bound):
            points[move.t] = len(bound)
    points[world.now] = len(bound)
    counts = list(points.items())
    return counts if len(counts) <= POINTS else [counts[i] for i in np.linspace(0, len(counts) - 1, POINTS, dtype=int)]


@answers(comparing.AttemptDigests, too_much=TOO_MUCH)
def digests(engine: Engine, request: comparing.AttemptDigests) -> Steps[list[str]]:
    """Return the digests (docs/trace.md) of attempts."""
    head, first = request.position, request.first
    attempts = (yield from engine.at(head)).journal.attempts
    start = attempts[first].first_position if first < len(attempts) else head
    world = (yield from engine.at(max(0, start - 1))).fork()
    computed: list[str] = []
    end = time.perf_counter() + PATIENCE
    while world.position < head and len(computed) < request.most and not (computed and time.perf_counter() > end):
        before = len(world.journal.attempts)
        engine.replay(world)
        if before >= first and len(world.journal.attempts) > before:
            name = world.journal.attempts[-1].scheduler
            cycle = next((scheduler.cycle for scheduler in world.schedulers if scheduler.name == name), None)
            computed.append("" if cycle is None else digest(cycle))
        if engine.slice.over():
            yield
    return computed


@answers(comparing.Attempt, too_much=TOO_MUCH)
def attempt(engine: Engine, request: comparing.Attempt) -> Steps[comparing.AttemptDetail]:
    """Return one attempt with its scores for the best nodes, and its refusals."""
    attempts = (yield from engine.at(request.position)).journal.attempts
    if not 0 <= request.index < len(attempts):
        raise SessionError(
            message(
                "Attempt %(number)s does not exist. Attempts: %(count)s.", number=request.index, count=len(attempts)
            )
        )
    outlined = attempts[request.index]
    world = yield from engine.at(outlined.last_position)
    cycle = next((scheduler.cycle for scheduler in world.schedulers if scheduler.name == outlined.scheduler), None)
    if cycle is None:
        return comparing.AttemptDetail(**_fields(outlined), board=None, refusals=[], draw=None)
    return comparing.AttemptDetail(
        **_fields(outlined), board=board_of(cycle), refusals=refusals_of(cycle), draw=cycle.draw
    )


def board_of(cycle: SchedulingCycleView) -> comparing.ScoreBoard | None:
    """Return the scores by node, the best first; at most NODES nodes and the chosen one."""
    board = cycle.scores
    if board is None or not board.plugins:
        return None
    total = board.total if board.total is not None else np.sum(board.weighted, axis=0)
    names = [cycle.nodes.names[int(row)] for row in board.rows]
    order = [int(k) for k in np.argsort(-total, kind="stable")[:NODES]]
    if cycle.chosen in names and names.index(cycle.chosen) not in order:
        order.append(names.index(cycle.chosen))
    plugins = list(zip(board.plugins, board.weights, board.raw, board.normalized, strict=True))
    rows = []
    for k in order:
        cells = {name: (int(raw[k]), int(norm[k]), int(norm[k]) * weight) for name, weight, raw, norm in plugins}
        rows.append(comparing.ScoredNode(names[k], int(total[k]), cells))
    return comparing.ScoreBoard(
        [comparing.WeightedPlugin(name, weight) for name, weight, _, _ in plugins], rows, len(names)
    )


def refusals_of(cycle: SchedulingCycleView) -> list[comparing.CountedRefusal]:
    """Return the numbers of refused nodes by plugin and text, the largest first."""
    counts: dict[tuple[str, str], list[str]] = {}
    for row, name in enumerate(cycle.nodes.names):
        status = cycle.status_of(row)
        if status is not None:
            counts.setdefault((status.plugin, status.message), []).append(name)
    ordered = sorted(counts.items(), key=lambda item: (-len(item[1]), item[0]))
    return [comparing.CountedRefusal(plugin, text, len(names), names[:3]) for (plugin, text), names in ordered[:NODES]]


FAILURES = 3  # of expressions, reported by one search


class Search(Task[Hit | None, SearchProgress]):
    """One search; `scanned` is the number of positions searched, of `of` in all. `limit`: the maximum of `scanned`."""

    def __init__(
        self, engine: Engine, points: Iterable[Breakpoint], at: int, back: bool, head: int, limit: int
    ) -> None:
        super().__init__(self._back(at) if back else self._forward(at, head))
        self.engine = engine
        self.points = list(points)
        self.scanned = 0
        self.of = at if back else head - at
        self.limit = limit
        self._failures: Counter[str] = Counter()

    def progress(self) -> SearchProgress:
        return SearchProgress(
            done=self.done,
            hit=self.result,
            scanned=self.scanned,
            of=self.of,
            spent=self.scanned >= self.limit,
            failures=[f"{what} ({count:,} records)" for what, count in self._failures.most_common(FAILURES)],
        )

    def _forward(self, at: int, head: int) -> Steps[Hit | None]:
        world = (yield from self.engine.at(at)).fork()
        return (yield from self._first(world, head))

    def _first(self, world: Any, head: int) -> Steps[Hit | None]:
        condition = Condition(self.points)
        condition(world)  # to record the watches' values here
        while world.position < head and self.scanned < self.limit:
            self.engine.replay(world)
            self.scanned += 1
            if condition(world):
                return condition.hit
            if self.engine.slice.over():
                yield
        self._failures.update(condition.failures())
        return None

    def _back(self, at: int) -> Steps[Hit | None]:
        """Search the positions before `at`, in pieces from the latest to the first; position 0 has no transition."""
        end, latest = at - 1, None
        begun: dict[int, Matcher] = {}  # by index in `points`: the matcher with the earliest value of a watch so far
        while end > 0 and self.scanned < self.limit:
            world, condition = self.engine.history.nearest(end - 1), Condition(self.points)
            start = world.position
            latest = _later(latest, (yield from self._last(world, end, condition)))
            for i, matcher in enumerate(condition.matchers):
                if matcher.begun is not None:
                    after = begun.get(i)
                    if after is not None and after.first != matcher.last:
                        latest = _later(latest, after.begun)
                    begun[i] = matcher
            if latest is not None and not any(
                _later(latest, matcher.begun) is matcher.begun for matcher in begun.values()
            ):
                return latest
            end = start
        return latest

    def _last(self, world: Any, end: int, condition: Condition) -> Steps[Hit | None]:
        """Return the hit at the last position up to `end` where a breakpoint holds."""
        latest = None
        while world.position < end:
            self.engine.replay(world)
            self.scanned += 1
            if condition(world):
                latest = condition.hit
            if self.engine.slice.over():
                yield
        self._failures.update(condition.failures())
        return latest


def _later(hit: Hit | None, other: Hit | None) -> Hit | None:
    """Return the hit at the later position; the first one if the positions are equal, the only one if the other is None."""
    if hit is None or other is None:
        return hit or other
    return other if other.position > hit.position else hit


@answers(CheckExpression)
def check_expression(engine: Engine, request: CheckExpression) -> Steps[list[ExpressionProblem]]:
    """Return the errors in an expression, which is compiled where it will run."""
    yield
    return problems(request.point)
