"""A run that stops at a condition, at the end, or at this server's limit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.test import AsyncClient
from django.urls import reverse
from msgspec import to_builtins

from playground.features.cluster.query import Cluster
from playground.lessons import beginning, play, read_lessons
from playground.models import LogEntry, Session
from playground.presenters.words import in_english
from playground.sessions.database import log
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.until import (
    AttemptEnded,
    CardReached,
    NextUnschedulable,
    PodAttempted,
    StepReached,
    TimeReached,
    Until,
    from_form,
    to_log,
)
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.runtime import runtime
from playground.sessions.worker.conditions.matching import require_future
from scheduler_core.world.commands import StartScheduler, command_from_json
from scheduler_core.world.simulation import Simulation
from tests.playground.sessions.worlds import applying, cluster, node, pod

pytestmark = pytest.mark.django_db(transaction=True)
LESSON = next(lesson for lesson in read_lessons() if lesson.slug == "zones")
OBJECTS = [node("n0"), node("n1"), pod("p0"), pod("p1"), pod("huge", cpu="64"), pod("p2"), pod("p3")]


@pytest.fixture
async def mixed(transactional_db: None) -> Session:
    """Five pods, the third of which fits nowhere; at position 1."""
    return await create_session("Test", commands=[applying(*OBJECTS)])


@pytest.fixture
async def taught(transactional_db: None) -> Session:
    """A session of the lesson `zones`; at position 1, which is its first card."""
    commands = list(map(to_builtins, beginning(LESSON.plan)))
    return await create_session("Test", story=LESSON.slug, commands=commands)


def alone() -> Simulation:
    """The same world without a session."""
    sim = Simulation()
    sim.apply(command_from_json(applying(*OBJECTS)))
    return sim


async def run(session: Session, until: Until | None) -> int:
    """Run to the condition; the head where the run stopped."""
    client = await SessionClient.open(session.edit_key)
    await runtime().call(lambda: _run(client, until))
    await session.arefresh_from_db()
    return session.head


async def test_a_run_to_a_steps_number_says_nothing_when_it_is_there(mixed: Session) -> None:
    assert await run(mixed, StepReached(12)) == 12
    assert await said(mixed) == ""


async def _run(client: SessionClient, until: Until | None) -> None:
    await client.live().run(until)
    while client.live().driver is not None:
        await asyncio.sleep(0.01)


async def said(session: Session) -> str:
    client = await SessionClient.open(session.edit_key)

    async def ask() -> str:
        return client.live().said_at_head

    return await runtime().call(ask)


@pytest.mark.parametrize(
    ("until", "holds"),
    [
        (NextUnschedulable(), lambda sim: sim.journal.attempts[-1:] and sim.journal.attempts[-1].pod == "default/huge"),
        (PodAttempted("default/p3"), lambda sim: "default/p3" in sim.journal.last_attempt),
        (AttemptEnded(2), lambda sim: len(sim.journal.attempts) == 2),
        (TimeReached(0.003), lambda sim: sim.now >= 3_000_000),
    ],
)  # fmt: skip
async def test_a_run_stops_at_the_first_step_where_its_condition_holds(
    mixed: Session, until: Until, holds: Any
) -> None:
    sim = alone()
    while not holds(sim):
        sim.advance()
    assert await run(mixed, until) == sim.position
    entry = await LogEntry.objects.aget(seq=2)
    assert (entry.kind, entry.at, entry.to, log.unpack(entry.payload)) == (
        "run",
        1,
        sim.position,
        {"until": to_log(until)},
    )
    assert await said(mixed) == f"The run stopped: {in_english(until.said())}."


async def test_the_next_pod_is_one_that_comes_after_the_run_began(mixed: Session) -> None:
    first = await run(mixed, AttemptEnded(1))
    again = await run(mixed, NextUnschedulable())
    assert again > first
    assert await run(mixed, NextUnschedulable()) > again


async def test_a_run_to_a_time_goes_on_where_nothing_but_leases_is_renewed(transactional_db: None) -> None:
    begun = await create_session("Test", commands=[to_builtins(StartScheduler("a"))])
    await run(begun, TimeReached(60))
    client = await SessionClient.open(begun.edit_key)
    reading = await client.ask(Cluster(at=None, part="replicas", name=""))
    assert 60 <= reading["now"] / 10**9 < 63
    assert [row["stage"] for row in reading["rows"]] == ["leading", "working"]


async def test_a_condition_that_never_holds_stops_at_the_end_and_says_so(session: Session) -> None:
    await run(session, NextUnschedulable())
    assert await said(session) == (
        "The simulation has nothing more to do, and the condition of the run was never met: the next pod is unschedulable."
    )


async def test_a_run_to_the_end_has_nothing_to_say(session: Session) -> None:
    await run(session, None)
    assert await said(session) == ""


async def test_a_run_stops_at_the_servers_limit_and_goes_on_when_asked_again(session: Session, settings: Any) -> None:
    settings.MAX_RUN_STEPS = 10
    assert await run(session, None) == 11
    assert "stopped after 10 steps" in await said(session)
    assert await run(session, None) == 21


async def test_what_is_told_is_told_where_the_run_ended_only(mixed: Session) -> None:
    await run(mixed, AttemptEnded(1))
    browser = AsyncClient()
    studio = reverse("studio", args=[mixed.edit_key])
    assert b"The run stopped: attempt 1 ends." in (await browser.get(studio)).content
    await browser.post(reverse("step", args=[mixed.edit_key]), {"grain": "call"})
    assert b"The run stopped" not in (await browser.get(studio)).content


@pytest.mark.parametrize(
    ("until", "why"),
    [(PodAttempted("default/nobody"), "No pod default/nobody"), (TimeReached(0.0), "has already passed")],
)
async def test_what_can_not_come_any_more_is_refused(mixed: Session, until: Until, why: str) -> None:
    with pytest.raises(SessionError, match=why):
        await run(mixed, until)
    await mixed.arefresh_from_db()
    assert mixed.head == 1


def test_an_attempt_that_was_made_is_past() -> None:
    sim = alone()
    sim.run(lambda world: len(world.journal.attempts) == 3)
    require_future(sim, AttemptEnded(4))
    with pytest.raises(SessionError, match="has already passed: attempt 3 ends"):
        require_future(sim, AttemptEnded(3))


@pytest.mark.parametrize(
    "asked",
    [
        {"until": "tomorrow"},
        {"until": ["time"]},
        {"until": "pod", "pod": " "},
        {"until": "time", "seconds": "soon"},
        {"until": "time", "seconds": "nan"},
        {"until": "time", "seconds": -1},
        {"until": "attempt"},
        {"until": "attempt", "number": True},
        {"until": "attempt", "number": 1e300},
    ],
)
async def test_a_condition_that_makes_no_sense_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(SessionError):
        from_form(asked["until"], asked)


async def test_forms_send_numbers_as_text() -> None:
    assert from_form("attempt", {"number": "17", "pod": ""}) == AttemptEnded(17)
    assert from_form("pod", {"pod": "web-1"}) == PodAttempted("default/web-1")
    assert from_form("", {"number": "17"}) is None


async def test_the_form_refuses_with_a_page_and_a_view_link_may_not(mixed: Session) -> None:
    browser = AsyncClient()
    form = {"until": "pod", "pod": "nobody"}
    response = await browser.post(reverse("run", args=[mixed.edit_key]), form)
    assert response.status_code == 422
    assert b"No pod default/nobody" in response.content
    form = {"until": "unschedulable"}
    assert (await browser.post(reverse("run", args=[mixed.view_key]), form)).status_code == 403


async def test_the_stream_tells_why_a_run_ended(mixed: Session, pages: Any) -> None:
    page = await pages(mixed.edit_key)
    await page.look()
    await page.send({"type": "run", "until": "attempt", "number": 2})
    ended = await page.until(lambda message: message["type"] == "ended")
    assert (ended["reason"], ended["message"]) == ("until", "The run stopped: attempt 2 ends.")


async def test_a_run_to_a_condition_can_be_cancelled(transactional_db: None) -> None:
    session = await create_session("Test", commands=[cluster(20, 1500)])
    client = await SessionClient.open(session.edit_key)

    async def cancelled() -> bool:
        await client.live().run(NextUnschedulable())
        while client.live().head <= 1:
            await asyncio.sleep(0.01)
        running = client.live().running
        await client.live().pause()
        return running is not None and running.until == NextUnschedulable().said()

    assert await runtime().call(cancelled)
    await session.arefresh_from_db()
    assert session.head > 1
    assert await said(session) == ""


async def test_a_run_goes_on_to_a_card_of_the_lesson(taught: Session) -> None:
    slug = taught.story
    with pytest.raises(SessionError, match="This card does not exist"):
        await run(taught, CardReached(slug, 99))
    with pytest.raises(SessionError, match="This card does not exist"):
        await run(taught, CardReached("none", 1))
    position = await run(taught, CardReached(slug, 2))
    assert position == play(LESSON).positions[LESSON.plan.cards[1].id]
    with pytest.raises(SessionError, match="has already passed: the lesson reaches card 2"):
        await run(taught, CardReached(slug, 2))


async def test_where_a_card_offers_something_the_run_to_the_next_one_says_so(taught: Session) -> None:
    assert await run(taught, CardReached(taught.story, 4)) > 0
    assert "until you do the task on the card" in await said(taught)
