"""What viewers are sent, from a session that counts what it is asked."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from playground.presenters import Look
from playground.presenters.panel import Delta as Changed
from playground.presenters.panel import SeenPage
from playground.sessions.protocol.looking import Compare
from playground.sessions.web import publisher
from playground.sessions.web.messages import Delta, ToPage
from playground.sessions.web.publisher import Publisher, Viewer


class Watched:
    """A session at step 9, whose deltas have no panels."""

    id, shown, running, is_behind = 1, 9, None, False

    def __init__(self) -> None:
        self.asked: list[Compare] = []

    @property
    def turn(self) -> Any:
        return contextlib.nullcontext()

    async def ready(self) -> None: ...

    async def ask(self, query: Any) -> Any:
        self.asked.append(query)
        return Changed([], [])


def looking(heard: list[ToPage], at: int | None) -> Viewer:
    viewer = Viewer(heard.append, True, look=Look(at=at), ready=True)
    viewer.seen = SeenPage(9, Look())
    return viewer


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(publisher.time, "monotonic", lambda: now[0])
    return now


async def led(to: Publisher, at: int | None, count: int) -> list[ToPage]:
    """Viewers who come to a step one by one."""
    heard: list[ToPage] = []
    for _ in range(count):
        viewer = looking(heard, at)
        to.viewers.add(viewer)
        to.wake(viewer)
        await to.publish()
    return heard


async def test_a_class_that_comes_to_a_step_one_by_one_is_sent_what_was_made_once(clock: list[float]) -> None:
    session = Watched()
    heard = await led(Publisher(session), 3, 30)
    assert [message.seq for message in heard if isinstance(message, Delta)] == [3] * 30
    assert len(session.asked) == 1


async def test_who_looks_elsewhere_costs_no_look_at_the_others_and_what_concerns_all_does(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    to, looked, target = Publisher(Watched()), [0], Viewer.target

    def counted(viewer: Viewer, head: int) -> SeenPage:
        looked[0] += 1
        return target(viewer, head)

    monkeypatch.setattr(Viewer, "target", counted)
    await led(to, 3, 30)
    assert looked[0] <= 60  # to announce, and to show
    to.wake()
    await to.publish()
    assert looked[0] >= 90


async def test_it_is_made_anew_after_a_while_and_where_the_session_has_gone_on(clock: list[float]) -> None:
    session = Watched()
    to = Publisher(session)
    await led(to, 3, 2)
    clock[0] += publisher.KEPT + 0.1
    await led(to, 3, 2)
    assert len(session.asked) == 2
    session.shown = 10
    await led(to, 3, 2)
    assert len(session.asked) == 3


async def test_few_are_kept_and_none_of_the_newest_step(clock: list[float]) -> None:
    session = Watched()
    to = Publisher(session)
    for at in range(publisher.MOST_KEPT + 1):
        await led(to, at, 2)
    assert len(session.asked) == publisher.MOST_KEPT + 2
    viewer = looking([], None)
    viewer.seen = SeenPage(2, Look())
    to.viewers.add(viewer)
    await to.publish()
    assert len(to._kept) == publisher.MOST_KEPT
