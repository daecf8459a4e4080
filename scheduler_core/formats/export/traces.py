"""Export of a world's history as JSON lines, and verification of such an export by replay.

The schema is in docs/trace.md. A trace holds the inputs (commands with their positions), every decision record, and for each attempt a
digest of its node-by-node detail; the detail itself for requested attempts.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scheduler_core import ENGINE_VERSION, KUBE_VERSION
from scheduler_core.base.releases import read_release
from scheduler_core.base.trace.kinds import KINDS
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.runtime.framework import facts_of
from scheduler_core.world.commands import command_from_json
from scheduler_core.world.simulation import Simulation

# Digests of attempts: one short text stands for all node-by-node detail of a scheduling cycle.
#
# What is hashed is written down in docs/trace.md; it is the same bytes on any machine.

DIGEST_BYTES = 16


def digest(cycle: SchedulingCycle) -> str:
    """BLAKE2b (128 bits, hexadecimal) over the steps and the result of a finished cycle."""
    into = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _text(into, [cycle.pod.key, cycle.profile, cycle.scheduler])
    _text(into, cycle.nodes.names)
    for step in cycle.steps:
        _text(into, [step.point.value, step.plugin, step.status.to_json(), step.timeout])
        if step.node_names is not None:
            _text(into, sorted(step.node_names))
        if step.rows is not None:
            _numbers(into, step.rows)
        if step.verdicts is not None:
            _numbers(into, step.verdicts.reason)
            _text(into, [status.to_json() for status in step.verdicts.statuses])
        if step.scores is not None:
            _numbers(into, step.scores)
        if step.evidence is not None:
            _text(into, step.evidence.to_json())
    _text(into, [cycle.outcome, cycle.chosen, cycle.draw, list(cycle.tied), cycle.message])
    return into.hexdigest()


def _text(into: hashlib.blake2b, value: Any) -> None:
    into.update(json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode())
    into.update(b"\n")


def _numbers(into: hashlib.blake2b, values: np.ndarray[Any, Any]) -> None:
    into.update(np.ascontiguousarray(values, dtype="<i8").tobytes())
    into.update(b"\n")


SCHEMA = 1
FORMAT = "scheduler-playground-trace"
EDITION = 3
"""The rules of the world that a trace is computed by. Lower numbers are those of worlds that 0.4 and older versions made."""
LAST_WITH_OLDER = "0.6.0"
"""The last version that opens sessions and traces of lower editions."""

BROKEN_OFF = "broken_off"  # the type of a last line that says why a trace is not whole

DECISIONS = frozenset(kind for kind, facts in KINDS.items() if facts.DECISION)

Line = dict[str, Any]
Log = Mapping[int, Mapping[str, Any]]


class TraceError(ValueError):
    """A trace that can't be read: received, expected, and the line (from 1)."""

    def __init__(self, line: int, received: str, expected: str) -> None:
        self.line = line
        self.received = received
        self.expected = expected
        super().__init__(f"line {line}: received {received}; expected {expected}")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of a recomputed trace."""

    line: int
    position: int
    received: Line
    expected: Line


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a verification: the number of attempts compared, and the first difference (None: equal)."""

    attempts: int
    position: int
    difference: Difference | None


def export_lines(seed: int, log: Log, head: int, detail: range = range(0), created: str = "") -> Iterator[Line]:
    """Yield a trace line by line: a header, then commands, records, and digests in the order of positions.

    `log` maps the position before a command to the command's JSON. `detail` is the range of attempt numbers whose node-by-node detail is
    included.
    """
    yield {
        "type": "header",
        "format": FORMAT,
        "schema": SCHEMA,
        "engine": ENGINE_VERSION,
        "kube": version_of(log),
        "seed": seed,
        "head": head,
        "commands": len(log),
        "created": created,
        "edition": EDITION,
        **({"scheduler_releases": own} if (own := versions_of(log)) else {}),
    }
    sim = Simulation(seed=seed)
    while sim.position < head:
        before = sim.position
        command = log.get(before)
        if command is not None:
            yield {"type": "command", "position": before, "command": dict(command)}
        records = replay_one(sim, log)
        if not records and sim.position == before:
            raise TraceError(0, f"nothing left to happen at position {before}", f"a history up to {head}")
        for record in records:
            if record.kind not in DECISIONS:
                continue
            yield {"type": "record", "position": sim.position, **record.to_json()}
            if record.kind == "attempt_ended":
                scheduler = record.scheduler
                cycle = next(s.cycle for s in sim.schedulers if s.name == scheduler)
                assert cycle is not None
                number = cycle.number
                yield {"type": "digest", "position": sim.position, "attempt": number, "digest": digest(cycle)}
                if number in detail:
                    yield {"type": "detail", "position": sim.position, "attempt": number, **_detail(cycle)}


def version_of(log: Log) -> str:
    """Return the version of kube-scheduler that a history ends with."""
    settings = (command.get("settings") or {} for command in log.values() if command.get("kind") == "SetSettings")
    releases = [str(each["release"]) for each in settings if each.get("release")]
    return f"v{releases[-1]}" if releases else KUBE_VERSION


def versions_of(log: Log) -> dict[str, str]:
    """Return the versions, at the end of a history, of schedulers that have another one than the world."""
    own: Mapping[str, str] = {}
    for command in (log[at] for at in sorted(log)):
        settings = command.get("settings") or {} if command.get("kind") == "SetSettings" else {}
        own = settings.get("scheduler_releases", {} if settings.get("release") else own)
    return {name: f"v{read_release(release)}" for name, release in own.items()}


def replay_one(sim: Simulation, log: Log) -> list[Record]:
    """Make the transition at the world's position in the history: a command of the log, or a step of the engine."""
    command = log.get(sim.position)
    return sim.apply(command_from_json(command)) if command is not None else sim.advance()


def transitions(sim: Simulation, log: Log, head: int) -> Iterator[list[Record]]:
    """The records of one transition after the other, up to a position."""
    while sim.position < head:
        before = sim.position
        records = replay_one(sim, log)
        if sim.position == before:
            return
        yield records


def _detail(cycle: SchedulingCycle) -> Line:
    return {
        "pod": cycle.pod.key,
        "nodes": list(cycle.nodes.names),
        "steps": [facts_of(step, cycle.pod.key, cycle.nodes).to_json() for step in cycle.steps],
    }


class ReadLog(NamedTuple):
    """The history that a trace describes."""

    seed: int
    log: dict[int, Mapping[str, Any]]
    head: int


def read_log(lines: Iterable[Mapping[str, Any]]) -> ReadLog:
    """Return the history of a trace's lines. Raise TraceError with the line at fault."""
    seed, head = 0, 0
    log: dict[int, Mapping[str, Any]] = {}
    seen = 0
    for seen, line in enumerate(lines, 1):
        if seen == 1:
            seed, head = _read_header(line)
        elif line.get("type") == BROKEN_OFF:
            raise TraceError(seen, f"a trace that broke off here: {line.get('message')}", "a whole trace")
        elif line.get("type") == "command":
            position = line.get("position")
            if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < head:
                raise TraceError(seen, f"position {position!r}", f"a whole number below {head}")
            if not isinstance(line.get("command"), Mapping):
                raise TraceError(seen, f"command {line.get('command')!r}", "an object")
            log[position] = line["command"]
    if not seen:
        raise TraceError(1, "an empty file", "a header line")
    return ReadLog(seed, log, head)


def _read_header(line: Mapping[str, Any]) -> tuple[int, int]:
    if line.get("type") != "header" or line.get("format") != FORMAT:
        raise TraceError(1, f"format {line.get('format')!r}", f"a header with format {FORMAT!r}")
    if line.get("schema") != SCHEMA:
        raise TraceError(1, f"schema {line.get('schema')!r}", f"schema {SCHEMA}")
    for name in ("seed", "head"):
        if isinstance(line.get(name), bool) or not isinstance(line.get(name), int) or line[name] < 0:
            raise TraceError(1, f"{name} {line.get(name)!r}", "a whole number from 0")
    edition = line.get("edition", 1)
    if edition != EDITION:
        older = f"edition {edition!r}"
        raise TraceError(1, older, f"edition {EDITION}; Scheduler Playground {LAST_WITH_OLDER} opens older traces")
    return line["seed"], line["head"]


def check_lines(lines: list[Mapping[str, Any]]) -> Report:
    """Replay a trace and compare every decision record and digest. Report the first difference."""
    seed, log, head = read_log(lines)
    recorded = ((i, line) for i, line in enumerate(lines, 1) if line.get("type") in ("record", "digest"))
    attempts = 0
    for computed in export_lines(seed, log, head):
        if computed["type"] not in ("record", "digest"):
            continue
        number, line = next(recorded, (len(lines) + 1, {}))
        if dict(line) != computed:
            return Report(
                attempts, computed["position"], Difference(number, computed["position"], dict(line), computed)
            )
        attempts += computed["type"] == "digest"
    extra = next(recorded, None)
    if extra is not None:
        number, line = extra
        return Report(attempts, head, Difference(number, head, dict(line), {}))
    return Report(attempts, head, None)
