"""What a worker can be asked for: one method per request, found by name in OPS."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import orjson

from playground.presenters import changes
from playground.presenters.look import Look
from playground.sessions.protocol.errors import EngineFailed
from playground.sessions.worker import checkpoints as keeping
from playground.sessions.worker import rerun, traces
from playground.sessions.worker.answers import fixes as fixing
from playground.sessions.worker.answers import journeys, outlines
from playground.sessions.worker.answers import objects as contents
from playground.sessions.worker.answers import records as recorded
from playground.sessions.worker.answers.metrics import metrics
from playground.sessions.worker.conditions import breakpoints, search
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import TimeSlice

# Kept between two of their turns, of all sessions of this worker.
SEARCHES = 32
RERUNS = 16

Header = dict[str, Any]
Steps = Generator[None, None, "Answer"]


@dataclass
class Answer:
    """JSON-safe data and raw attachments."""

    result: Any
    attachments: list[bytes] = field(default_factory=list)


class Requests:
    """The engines of this worker, and what may be asked of them."""

    def __init__(self, slice_: TimeSlice) -> None:
        self._slice = slice_
        self._engines: dict[int, Engine] = {}
        self._searches: OrderedDict[tuple[int, str], search.Search] = OrderedDict()
        self._reruns: OrderedDict[tuple[int, str], rerun.Rerun] = OrderedDict()

    def interrupt(self, session: int) -> None:
        if session in self._engines:
            self._engines[session].interrupted = True

    def close(self, session: int) -> None:
        self._engines.pop(session, None)
        for kept in (self._searches, self._reruns):
            for key in [key for key in kept if key[0] == session]:
                del kept[key]  # type: ignore[attr-defined]

    def quick(self, op: str, session: int) -> Header:
        """What is answered at once, in the middle of other jobs."""
        engine = self._engines.get(session)
        if op == "ping" or engine is None:
            return {"pid": os.getpid(), "sessions": len(self._engines), "done": 0, "total": 0}
        return {"done": engine.world.position, "total": engine.target}

    def start(self, op: str, header: Header, attachments: list[bytes]) -> Steps:
        """The job for a request."""
        return OPS[op](self, header, attachments)

    def _engine(self, header: Header) -> Engine:
        engine = self._engines.get(header["sid"])
        if engine is None:
            raise EngineFailed("The engine does not have this session. Please try again.")
        return engine

    def open(self, header: Header, attachments: list[bytes]) -> Steps:
        """Make a session's engine from its log, from the last checkpoint on where there is one that can be used."""
        engine = Engine(header["seed"], self._slice)
        engine.story, engine.told, engine.target = header["story"], header["told"], header["head"]
        self._engines[header["sid"]] = engine
        rows, shelf = header["rows"], header["shelf"]
        given = iter(attachments)
        payloads = [next(given) for _ in rows]
        parts = [next(given) for _ in range(shelf["parts"])]
        worlds = [next(given) for _ in shelf["marks"]]
        yield from engine.take(rows, payloads)
        keeping.restore(engine, shelf, parts, worlds)
        restored = engine.world.position
        yield
        yield from engine.go_on(header["head"])
        differs = None if restored else keeping.compare(engine, list(given))
        return Answer({"head": engine.world.position, "restored": restored, "differs": differs})

    def save(self, header: Header, attachments: list[bytes]) -> Steps:
        """What of the history is to be kept in the database."""
        engine = self._engine(header)
        result, packed = yield from keeping.save(engine, header["upto"], header["least"])
        return Answer(result, packed)

    def forget(self, header: Header, attachments: list[bytes]) -> Steps:
        """What was handed out to be kept could not be: begin anew with the next save."""
        yield
        engine = self._engine(header)
        engine.history.stored.forget()
        engine.told = header["told"]
        return Answer({})

    def extend(self, header: Header, attachments: list[bytes]) -> Steps:
        """Follow the log from the position that is known to be in it."""
        engine = self._engine(header)
        yield from engine.follow(header["rows"], attachments, header["head"], header["keep"])
        return Answer({"head": engine.world.position})

    def fork(self, header: Header, attachments: list[bytes]) -> Steps:
        """Copy an engine for a new session."""
        engine = self._engine(header)
        twin = yield from engine.twin(header["at"])
        twin.told = header["told"]
        if header["volume"] == engine.history.stored.volume:
            twin.history.stored = engine.history.stored.twin(header["parts"], header["marks"])
        self._engines[header["new"]] = twin
        return Answer({})

    def apply(self, header: Header, attachments: list[bytes]) -> Steps:
        yield
        result, packed = self._engine(header).apply(attachments[0], header["limits"])
        return Answer(result, [packed])

    def plan(self, header: Header, attachments: list[bytes]) -> Steps:
        yield
        return Answer(contents.preview(self._engine(header), header["token"], attachments[0]))

    def apply_plan(self, header: Header, attachments: list[bytes]) -> Steps:
        """Apply what the preview accepted."""
        yield
        engine = self._engine(header)
        command = contents.planned(engine, header["token"], attachments[0])
        data = orjson.dumps({"command": command, "source": "import"})
        result, packed = engine.apply(data, header["limits"])
        return Answer(result, [packed])

    def step(self, header: Header, attachments: list[bytes]) -> Steps:
        return Answer(
            (yield from self._engine(header).step(header["grain"], header["times"], header["keep"]))
        )

    def run(self, header: Header, attachments: list[bytes]) -> Steps:
        engine = self._engine(header)
        return Answer(
            (yield from engine.run(header["seconds"], header["keep"], header["until"], header["most"]))
        )

    def require_future(self, header: Header, attachments: list[bytes]) -> Steps:
        yield
        self._engine(header).require_future(header["until"])
        return Answer({})

    def forward(self, header: Header, attachments: list[bytes]) -> Steps:
        engine = self._engine(header)
        return Answer((yield from engine.forward(header["at"], header["grain"], header["head"])))

    def back(self, header: Header, attachments: list[bytes]) -> Steps:
        engine = self._engine(header)
        return Answer((yield from engine.back(header["at"], header["grain"], header["head"])))

    def check_breakpoint(self, header: Header, attachments: list[bytes]) -> Steps:
        """What is wrong with a breakpoint's expression, each with its place."""
        yield
        return Answer(breakpoints.problems(breakpoints.parse(header["point"])))

    def search(self, header: Header, attachments: list[bytes]) -> Steps:
        """Begin a search or go on with it, for some time; `token` names it."""
        engine, key = self._engine(header), (header["sid"], header["token"])
        found = self._searches.pop(key, None)
        if found is None or header["begin"]:
            points = [breakpoints.parse(point) for point in header["points"]]
            found = search.Search(
                engine, points, header["at"], header["back"], header["head"], header["most"]
            )
        result = yield from found.work(header["seconds"])
        if not result["done"]:
            self._searches[key] = found
            while len(self._searches) > SEARCHES:
                self._searches.popitem(last=False)
        return Answer(result)

    def hits(self, header: Header, attachments: list[bytes]) -> Steps:
        """Where breakpoints and watches held between two positions."""
        engine = self._engine(header)
        points = [breakpoints.parse(point) for point in header["points"]]
        return Answer((yield from search.hits(engine, points, header["first"], header["at"], header["most"])))

    def recorded(self, header: Header, attachments: list[bytes]) -> Steps:
        """Records up to a position, the newest first, as far as they match."""
        engine = self._engine(header)
        point = breakpoints.parse(header["point"]) if header["point"] else None
        return Answer(
            (yield from recorded.recorded(engine, point, header["at"], header["most"], header["seconds"]))
        )

    def changes(self, header: Header, attachments: list[bytes]) -> Steps:
        """What differs between two positions, a page of rows at a time."""
        engine = self._engine(header)
        before = yield from engine.at(header["since"])
        after = yield from engine.at(header["at"])
        found = changes.compare(before, after, header["of"], header["q"])
        first = header["first"]
        rows = found["rows"][first : first + header["most"]]
        return Answer({**found, "rows": rows, "total": len(found["rows"])})

    def view(self, header: Header, attachments: list[bytes]) -> Steps:
        look = Look.from_query(header["look"])
        return Answer((yield from self._engine(header).view(header["at"], look, header["panels"])))

    def delta(self, header: Header, attachments: list[bytes]) -> Steps:
        before = header["before"] and (header["before"][0], Look.from_query(header["before"][1]))
        look = Look.from_query(header["look"])
        return Answer((yield from self._engine(header).delta(header["at"], look, before)))

    def objects(self, header: Header, attachments: list[bytes]) -> Steps:
        world = yield from self._engine(header).at(header["at"])
        return Answer(contents.objects(world, header["kind"]))

    def manifest(self, header: Header, attachments: list[bytes]) -> Steps:
        world = yield from self._engine(header).at(header["at"])
        return Answer(contents.manifest(world, header["object_kind"], header["namespace"], header["name"]))

    def configuration(self, header: Header, attachments: list[bytes]) -> Steps:
        """The schedulers' configurations and the world's settings."""
        world = yield from self._engine(header).at(header["at"])
        return Answer(contents.configuration(world))

    def fixes(self, header: Header, attachments: list[bytes]) -> Steps:
        """What would let a pod fit, proven; at most so many seconds are spent."""
        engine = self._engine(header)
        return Answer((yield from fixing.fixes(engine, header["at"], header["pod"], header["seconds"])))

    def journey(self, header: Header, attachments: list[bytes]) -> Steps:
        """A pod's journey up to a position; at most so many seconds are spent on looking into its attempts."""
        engine = self._engine(header)
        return Answer(
            (yield from journeys.told(engine, header["at"], header["pod"], header["page"], header["seconds"]))
        )

    def cycle_state(self, header: Header, attachments: list[bytes]) -> Steps:
        """What a pod's cycle keeps in its CycleState, and who wrote and read it."""
        engine = self._engine(header)
        return Answer((yield from journeys.cycle_state(engine, header["at"], header["pod"])))

    def outline(self, header: Header, attachments: list[bytes]) -> Steps:
        """A history in outline, to be compared with another one."""
        return Answer((yield from outlines.outline(self._engine(header), header["at"], header["since"])))

    def digests(self, header: Header, attachments: list[bytes]) -> Steps:
        """Digests of some attempts, from an index on."""
        engine = self._engine(header)
        return Answer((yield from outlines.digests(engine, header["at"], header["first"], header["most"])))

    def attempt(self, header: Header, attachments: list[bytes]) -> Steps:
        """One attempt's scores and refusals."""
        return Answer((yield from outlines.attempt(self._engine(header), header["at"], header["index"])))

    def metrics(self, header: Header, attachments: list[bytes]) -> Steps:
        """kube-scheduler's metrics of one scheduler, or of all."""
        world = yield from self._engine(header).at(header["at"])
        return Answer(metrics(world, header["scheduler"]))

    def rerun(self, header: Header, attachments: list[bytes]) -> Steps:
        """Make a history again without some commands, or go on with that for some time; `token` names it."""
        engine, key = self._engine(header), (header["sid"], header["token"])
        found = self._reruns.pop(key, None)
        if found is None:
            found = rerun.Rerun(engine, header["at"], header["skip"], header["limits"])
        result = yield from found.work(header["seconds"])
        if result["result"] is None:
            self._reruns[key] = found
            while len(self._reruns) > RERUNS:
                self._reruns.popitem(last=False)
        return Answer(result)

    def rerun_dropped(self, header: Header, attachments: list[bytes]) -> Steps:
        """Nobody goes on with a re-run."""
        yield
        self._reruns.pop((header["sid"], header["token"]), None)
        return Answer({})

    def moments(self, header: Header, attachments: list[bytes]) -> Steps:
        """The virtual time at some positions."""
        return Answer(
            (yield from rerun.moments(self._engine(header), header["positions"], header["seconds"]))
        )

    def nodes(self, header: Header, attachments: list[bytes]) -> Steps:
        """Node names in the order of the heat map."""
        world = yield from self._engine(header).at(header["at"])
        return Answer(contents.node_names(world))

    def cluster(self, header: Header, attachments: list[bytes]) -> Steps:
        """Some of the cluster's objects as YAML, from the `first` one on."""
        world = yield from self._engine(header).at(header["at"])
        text, following = contents.yaml_part(world, header["first"])
        return Answer({"next": following}, [text])

    def trace_open(self, header: Header, attachments: list[bytes]) -> Steps:
        """Begin to write a trace; this process has no other one."""
        yield
        self._export = traces.Export(header, attachments)
        return Answer({})

    def trace_next(self, header: Header, attachments: list[bytes]) -> Steps:
        yield
        data, done = self._export.next()
        return Answer({"done": done}, [data])

    def trace_check(self, header: Header, attachments: list[bytes]) -> Steps:
        yield
        found, payloads = traces.check(attachments[0], header["objects"])
        return Answer(found, payloads)


OPS: dict[str, Callable[[Requests, Header, list[bytes]], Steps]] = {
    one.__name__: one
    for one in (
        Requests.open,
        Requests.save,
        Requests.forget,
        Requests.extend,
        Requests.fork,
        Requests.apply,
        Requests.plan,
        Requests.apply_plan,
        Requests.step,
        Requests.run,
        Requests.require_future,
        Requests.forward,
        Requests.back,
        Requests.check_breakpoint,
        Requests.search,
        Requests.hits,
        Requests.recorded,
        Requests.changes,
        Requests.view,
        Requests.delta,
        Requests.objects,
        Requests.manifest,
        Requests.configuration,
        Requests.fixes,
        Requests.journey,
        Requests.cycle_state,
        Requests.outline,
        Requests.digests,
        Requests.attempt,
        Requests.metrics,
        Requests.rerun,
        Requests.rerun_dropped,
        Requests.moments,
        Requests.nodes,
        Requests.cluster,
        Requests.trace_open,
        Requests.trace_next,
        Requests.trace_check,
    )
}
