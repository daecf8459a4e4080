"""The ways of docs/walks.md are taken: what is called on them is what it names, in that order, through no other module."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any

import orjson
import pytest
from django.test import AsyncClient

from playground import presenters
from playground.models import Session
from playground.presenters import Look
from playground.presenters.panel import SeenPage
from playground.sessions.database import log
from playground.sessions.protocol.base import Request
from playground.sessions.protocol.looking import Compare, Follower
from playground.sessions.protocol.moving import Apply, Back, Step
from playground.sessions.protocol.opening import Archive, Open
from playground.sessions.protocol.wire import ENVELOPES, AtWork, Frames
from playground.sessions.web import consumers, engines, publisher
from playground.sessions.web.engines import encode_message
from playground.sessions.web.runtime import runtime
from playground.sessions.worker import process
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.past import History
from playground.views.workbench.build import FORMS, first_values
from scheduler_core.apiserver.store import Store
from scheduler_core.world.simulation import Grain
from tests.playground.sessions.conftest import Page
from tests.playground.sessions.worlds import applying, cluster, pod
from tests.walks import ROOT, walks

pytestmark = pytest.mark.django_db(transaction=True)

Pages = Callable[[str], Awaitable[Page]]
Call = tuple[str, str]  # file and function
OWN = ("playground/", "scheduler_core/")
ONTO_THE_LOOP = "SessionsLoop.call.<locals>.begin"


def own_frames() -> Iterator[Call]:
    """Who called, from the outermost one on."""
    frame, calls = sys._getframe(2), []
    while frame is not None:
        file = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if file.startswith(OWN):
            calls.append((file, frame.f_code.co_qualname.split(".<locals>")[0]))
        frame = frame.f_back  # type: ignore[assignment]
    return reversed(calls)


class Trail:
    """What was on the stack when some functions were called, by their names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self.stacks: dict[str, list[Call]] = {}

    def watch(self, owner: Any, name: str, label: Callable[..., str] | None = None, leaf: bool = True) -> None:
        """Note the first stack of each label, or of the function by its name; a `leaf` is a hop itself."""
        function = getattr(owner, name)
        code = inspect.unwrap(function).__code__
        last = [(code.co_filename.removeprefix(f"{ROOT}/"), code.co_qualname)] if leaf else []

        @wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            stack = [*own_frames(), *(call for call in last if call[0].startswith(OWN))]
            self.stacks.setdefault(label(*args) if label else name, stack)
            return function(*args, **kwargs)

        self._patch.setattr(owner, name, watched)

    def follow(self, *labels: str) -> list[Call]:
        """All calls on these stacks, one after the other."""
        return [call for label in labels for call in self.stacks[label]]


def hops(title: str) -> list[Call]:
    return [(hop.file, hop.function) for hop in walks()[title].hops if hop.file.endswith(".py")]


def assert_is_taken(title: str, calls: list[Call]) -> None:
    """Each hop comes behind the one before it, and nothing else was passed through."""
    rest = iter(calls)
    assert [hop for hop in hops(title) if hop not in rest] == []
    assert {file for file, _ in calls} - {file for file, _ in hops(title)} <= COMMON_CALLERS


# What is around every request: gate, identity, proxies, middleware; and the loop's own thread.
COMMON_CALLERS = {"playground/serving/gate.py", "playground/middleware.py", "playground/sessions/web/loop.py"}


def worker_asked(*requests: Request[Any]) -> process.Worker:
    """A worker in this process that has done what it was asked for."""
    worker = process.Worker(0, os.open(os.devnull, os.O_WRONLY), AtWork.made())
    ask(worker, *requests)
    return worker


def ask(worker: process.Worker, *requests: Request[Any]) -> None:
    for request in requests:
        for frame in Frames().feed(encode_message(1, 1, request)):
            worker._take(ENVELOPES.decode(frame))
        while worker._jobs:
            worker._jobs.turn()


def applied(*objects: Any, followers: tuple[Follower, ...] = ()) -> Apply:
    data = orjson.dumps({"command": applying(*objects), "source": "test"})
    return Apply(data=data, max_objects=100, followers=list(followers))


OPEN = Open(seed=1, story="", rows=[], head=0, archive=Archive(), outcomes=[], outcomes_saved=0)
CLUSTER = applied(*cluster(3, 1)["objects"])


def watch_web(trail: Trail) -> None:
    """Before a page is open: it remembers whom to send to."""
    trail.watch(runtime().services.loop, "post", lambda work: getattr(work, "__qualname__", ""))
    trail.watch(runtime().services.loop.loop, "run_in_executor")
    trail.watch(engines, "encode_message", lambda _, __, request: f"encode {type(request).__name__}")
    trail.watch(Frames, "feed", leaf=False)
    trail.watch(engines, "read_answer", lambda request, _: f"read {type(request).__name__}")
    trail.watch(log, "append")
    trail.watch(publisher, "render_delta")
    trail.watch(publisher.Publisher, "wake")
    trail.watch(consumers.SessionConsumer, "_post")
    trail.watch(consumers, "read")


def watch_worker(trail: Trail) -> None:
    trail.watch(process, "read_message")
    trail.watch(process, "start")
    trail.watch(Store, "create")
    trail.watch(Engine, "at")
    trail.watch(History, "at", lambda *_: "history")
    trail.watch(presenters, "present")
    trail.watch(process, "encode_answer")


async def test_a_pod_is_created_as_its_walk_says(
    async_client: AsyncClient, session: Session, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, inside = Trail(monkeypatch), Trail(monkeypatch)
    watch_web(web)
    page = await pages(session.edit_key)
    await page.look()
    web.stacks.clear()
    form = {**first_values(FORMS["pods"]), "name": "web", "count": 1}
    response = await async_client.post(
        f"/s/{session.edit_key}/build/pods", {name: value for name, value in form.items() if value}
    )
    assert response.status_code == 302
    assert (await page.next())["seq"] == 2
    worker = worker_asked(OPEN, CLUSTER)
    watch_worker(inside)
    ask(worker, applied(pod("web"), followers=(Follower(None, Look()),)))
    calls = [
        *web.follow(ONTO_THE_LOOP, "encode Apply"),
        *inside.follow("read_message", "start", "create", "present", "encode_answer"),
        *web.follow("feed", "read Apply", "run_in_executor", "append", "render_delta"),
        *web.follow("wake", "_post"),
    ]
    assert_is_taken("A pod's creation", calls)


async def test_a_step_back_is_made_as_its_walk_says(
    session: Session, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, back, compare = Trail(monkeypatch), Trail(monkeypatch), Trail(monkeypatch)
    watch_web(web)
    page = await pages(session.edit_key)
    await page.look()
    for _ in range(3):
        await page.ask({"type": "step", "grain": "call"})
    web.stacks.clear()
    assert (await page.ask({"type": "back", "grain": "pod"}))["seq"] < 4
    worker = worker_asked(OPEN, CLUSTER, Step(grain=Grain.CALL, times=3))
    watch_worker(back)
    ask(worker, Back(at=4, grain=Grain.POD, head=4))
    watch_worker(compare)
    ask(worker, Compare(at=1, look=Look(), before=SeenPage(4, Look())))
    calls = [
        *web.follow("read", ONTO_THE_LOOP, "encode Back"),
        *back.follow("read_message", "start", "at", "encode_answer"),
        *web.follow("feed", "read Back", "encode Compare"),
        *compare.follow("read_message", "start", "history", "present", "encode_answer"),
        *web.follow("read Compare", "render_delta", "_post"),
    ]
    assert_is_taken("A step back", calls)
