"""The differences between two positions, inside a worker."""

from playground.features.diff.presenter import compare
from playground.features.diff.query import Changes, Difference
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers


@answers(Changes)
def changes(engine: Engine, request: Changes) -> Steps[Difference]:
    """Return a page of the rows that differ between two positions, and their total number."""
    before = yield from engine.at(request.since)
    after = yield from engine.at(request.position)
    difference = compare(before, after, request.kind, request.q)
    return {**difference, "rows": difference["rows"][request.first : request.first + request.most]}
