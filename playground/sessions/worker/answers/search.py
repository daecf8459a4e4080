"""Search: the next or the last position where a breakpoint holds, found by replaying history; the head does not move.

Backwards, history is taken in pieces from the latest world before the cursor to the earliest; each piece is replayed forwards, and the
last position where a breakpoint held in it is the answer. Whether the first value of a watch in a piece was a change is known only when
the pieces before it have given the value until then. A search is worked on in turns and can be dropped between two of them.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit
from playground.sessions.protocol.until import CheckExpression, SearchProgress
from playground.sessions.worker.conditions.matching import Condition, Matcher, problems
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps

FAILURES = 3  # of expressions, reported by one search


class Search:
    """One search; `scanned` counts the positions looked at, `of` those there are. `limit`: looked at most."""

    def __init__(
        self, engine: Engine, points: Iterable[Breakpoint], at: int, back: bool, head: int, limit: int
    ) -> None:
        self.engine = engine
        self.points = list(points)
        self.scanned = 0
        self.of = at if back else head - at
        self.limit = limit
        self._failures: Counter[str] = Counter()
        self._steps: Steps[Hit | None] | None = self._back(at) if back else self._forward(at, head)

    def work(self, seconds: float) -> Steps[SearchProgress]:
        """Search for some time."""
        end, hit = time.perf_counter() + seconds, None
        while self._steps is not None and time.perf_counter() < end:
            try:
                next(self._steps)
            except StopIteration as over:
                self._steps, hit = None, over.value
                break
            yield
        return SearchProgress(
            done=self._steps is None,
            hit=hit,
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
        condition(world)  # so that a watch knows the value here
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
        """Positions before `at`, in pieces from the latest to the first; the first position of all has no transition."""
        end, latest = at - 1, None
        begun: dict[int, Matcher] = {}  # by the place in `points`: where a watch saw its first value so far
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
        """The last position up to `end` where one holds."""
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
    """The hit at the later position, the first one where they are equal or there is but one."""
    if hit is None or other is None:
        return hit or other
    return other if other.position > hit.position else hit


@answers(CheckExpression)
def check_expression(engine: Engine, request: CheckExpression) -> Steps[list[ExpressionProblem]]:
    """An expression is read where it will run."""
    yield
    return problems(request.point)
