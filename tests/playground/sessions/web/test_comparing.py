"""Two sessions side by side: where they part, and the first attempt that differs."""

from __future__ import annotations

from typing import Any

import pytest

from playground.features.comparison.presenter import identical, pods, present
from playground.models import Session
from playground.presenters import Look
from playground.presenters.charts import align_sequences
from playground.sessions.database.listing import LoggedCommand, commands
from playground.sessions.protocol.comparing import Comparison
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.jobs.comparisons import differing, parting
from playground.sessions.web.runtime import runtime
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worlds import applying, cluster, node, pod

pytestmark = pytest.mark.django_db(transaction=True)

LEAST = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}]}
    ],
}


async def to_the_end(client: SessionClient) -> None:
    for _ in range(200):
        shown, _head = await client.view(Look(), ["transport"])
        if shown.panels["transport"].context["idle"]:
            return
        await client.on_loop(lambda live: live.changes.step(Grain.POD))
    raise AssertionError("the session has no end")


async def begin(*given: dict[str, Any]) -> SessionClient:
    session = await create_session("Test", commands=list(given))
    return await SessionClient.open(session.edit_key)


async def compared(a: SessionClient, b: SessionClient) -> Comparison:
    await a.refresh()
    await b.refresh()
    heads = (a.session.head, b.session.head)
    job = await a.compare(b, heads, 30)
    assert job.result is not None
    return job.result


def kinds(found: Comparison) -> list[str]:
    first = present(found)["first"]
    return [kind["text"] for kind in first.kinds]


async def test_a_fork_that_only_stands_still_is_the_same(client: SessionClient) -> None:
    await to_the_end(client)
    found = await compared(client, await client.fork(at=5))
    assert (found.common, found.first, identical(found)) == (5, None, True)


async def test_the_pod_that_goes_elsewhere_is_the_first_difference(client: SessionClient) -> None:
    fork = await client.fork(at=1)
    await fork.apply(applying(node("n0", cpu="100m"), node("n1", cpu="100m"), node("n2", cpu="100m")))
    for one in (client, fork):
        await to_the_end(one)
    found = await compared(client, fork)
    assert found.common == 1
    assert [attempt and attempt.pod for attempt in found.attempts] == ["default/p0", "default/p0"]
    assert "the scores" in kinds(found)


async def test_scores_alone_are_a_difference(client: SessionClient) -> None:
    fork = await client.fork(at=1)
    await fork.apply({"kind": "SetConfiguration", "configuration": LEAST})
    for one in (client, fork):
        await to_the_end(one)
    found = await compared(client, fork)
    ours, theirs = found.attempts
    assert found.first == 0
    assert ours is not None and theirs is not None
    assert ours.board != theirs.board
    assert "profiles[0].pluginConfig" in str(present(found)["configuration"])


async def test_another_order_of_the_queue_is_a_difference(client: SessionClient) -> None:
    fork = await client.fork(at=1)
    urgent = pod("urgent")
    urgent["spec"]["priority"] = 100
    await fork.apply(applying(urgent))
    for one in (client, fork):
        await to_the_end(one)
    assert kinds(await compared(client, fork)) == ["the order of the queue: A tries %(pod)s, B tries %(name)s"]


async def test_pods_that_end_elsewhere_come_first(client: SessionClient) -> None:
    fork = await client.fork(at=1)
    await fork.apply({"kind": "DeleteObjects", "refs": [{"kind": "Pod", "namespace": "default", "name": "p3"}]})
    for one in (client, fork):
        await to_the_end(one)
    rows = pods(await compared(client, fork), True)
    assert rows[0].differs
    assert [row.key for row in rows if row.sides[1].place == "deleted"] == ["default/p3"]
    assert [row.differs for row in rows] == sorted((row.differs for row in rows), reverse=True)


async def test_sessions_that_share_no_past_are_compared_from_the_start() -> None:
    a, b = await begin(cluster(2, 3)), await begin(cluster(3, 3))
    for one in (a, b):
        await to_the_end(one)
    found = await compared(a, b)
    assert (found.common, found.first) == (0, 0)
    assert [row.side for row in found.commands.rows] == [0, 1]


async def test_equal_sessions_made_apart_are_the_same() -> None:
    a, b = await begin(cluster(2, 3)), await begin(cluster(2, 3))
    for one in (a, b):
        await to_the_end(one)
    assert identical(await compared(a, b))


async def test_a_session_that_made_more_attempts_differs_there(client: SessionClient) -> None:
    await to_the_end(client)
    fork = await client.fork()
    await fork.apply(applying(pod("more")))
    await client.apply(applying(node("n9")))
    await to_the_end(client)
    await to_the_end(fork)
    found = await compared(client, fork)
    ours, theirs = found.attempts
    assert ours is None
    assert theirs is not None
    assert theirs.pod == "default/more"


async def test_the_preemption_of_one_side_is_told() -> None:
    small = [node("n0", cpu="1"), pod("low", cpu="1")]
    a = await begin(applying(*small))
    await to_the_end(a)
    b = await a.fork()
    high = pod("high", cpu="1")
    await a.apply(applying(high))
    high["spec"]["priority"] = 1000
    await b.apply(applying(high))
    for one in (a, b):
        await to_the_end(one)
    (row,) = present(await compared(a, b))["preemptions"].rows
    assert (row.pod, row.sides[0], row.sides[1].victims) == ("default/high", None, ["default/low"])


def entry(at: int, text: str) -> Any:
    return LoggedCommand(at, {"text": text}, "", text.encode())


@pytest.mark.parametrize(
    ("ours", "theirs", "heads", "common"),
    [
        ([(0, "a")], [(0, "a")], (9, 7), 7),
        ([(0, "a"), (5, "b")], [(0, "a")], (9, 9), 5),
        ([(0, "a"), (5, "b")], [(0, "a")], (9, 4), 4),
        ([(0, "a"), (5, "b")], [(0, "a"), (6, "b")], (9, 9), 5),
        ([(0, "a")], [(0, "b")], (9, 9), 0),
    ],
)
def test_two_logs_part_where_their_commands_do(ours: Any, theirs: Any, heads: Any, common: int) -> None:
    assert parting((0, 2), (0, 2), [entry(*one) for one in ours], [entry(*one) for one in theirs], heads) == common


def test_worlds_of_other_seeds_share_nothing() -> None:
    assert parting((1, 2), (2, 2), [entry(0, "a")], [entry(0, "a")], (9, 9)) == 0


def test_commands_that_both_have_are_not_listed() -> None:
    found = differing([entry(1, "a"), entry(2, "b"), entry(3, "c")], [entry(1, "a"), entry(9, "c")])
    assert ([(row.side, row.at) for row in found.rows], found.same) == ([(0, 2)], 2)


@pytest.mark.parametrize(
    ("ours", "theirs", "pairs"),
    [
        ("", "a", []),
        ("ab", "ab", [(0, 0), (1, 1)]),
        ("xax", "ax", [(1, 0), (2, 1)]),
        ("uruzu", "urzr", [(0, 0), (1, 1), (3, 2)]),
    ],
)
def test_what_comes_again_and_again_is_aligned_with_as_many_as_there_are(ours: str, theirs: str, pairs: Any) -> None:
    assert align_sequences([one.encode() for one in ours], [one.encode() for one in theirs]) == pairs


async def test_the_log_is_read_up_to_a_head(session: Session) -> None:
    found = await runtime().call(lambda: runtime().services.loop.db(commands, session.pk, 1))
    assert [(one.at, one.source) for one in found] == [(0, "start")]
