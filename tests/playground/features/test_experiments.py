"""The page of experiments: its runs, its figures, what it refuses, and the sessions at the attempt where two variants part."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec
import pytest
import yaml
from django.test import AsyncClient
from django.urls import reverse

from playground.features.experiments.query import MakeRun
from playground.features.experiments.worker import make
from playground.management.commands.experiment import EXTRA
from playground.sessions.protocol.errors import CommandRefused
from playground.sessions.web import engines
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.nursery import Process, fork_worker
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.analysis.experiments import Experiment, list_runs
from tests.playground.sessions.worlds import applying
from tests.scheduler_core.worlds import node, pod

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def standing_back(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note which processes stand back behind others; here they stay as urgent as the tests beside them."""
    given: list[bool] = []

    def fork(memory: int, idle: bool, at_work: int) -> Coroutine[Any, Any, Process]:
        given.append(idle)
        return fork_worker(memory, False, at_work)

    monkeypatch.setattr(engines, "fork_worker", fork)
    return given


async def finished(client: AsyncClient, address: str) -> Any:
    """The page once nothing runs there any more."""
    while (response := await client.get(address)).status_code == 202:
        await asyncio.sleep(0.1)
    return response


async def test_variants_run_over_seeds_and_sessions_open_where_two_part(async_client: AsyncClient) -> None:
    objects = (
        *(node(name, "4") for name in "abc"),
        *(pod(f"p{i}", "1", nodeName="a" if i < 3 else "") for i in range(6)),
    )
    session = await create_session("Test", commands=[applying(*objects)])
    address = reverse("experiments", args=[session.view_key])
    page = await async_client.get(address)
    assert EXTRA in page.text
    file = yaml.safe_load(page.context["typed"])
    assert (page.context["world"]["nodes"], page.context["world"]["pods"]) == (3, 6)
    file |= {"seeds": 2, "sweep": {"NodeResourcesBalancedAllocation": [50]}}
    begun = await async_client.post(address, {"file": yaml.safe_dump(file)})
    results = await finished(async_client, begun.headers["Location"])
    (world,) = results.context["worlds"]
    assert world["variants"] == ["as-it-is", "packed", "NodeResourcesBalancedAllocation=50"]
    assert {line["name"]: line["values"][4] for line in world["lines"]} == {
        **dict.fromkeys(world["variants"], "3"),
        "packed": "2",
    }
    assert {chart["title"].split(",")[0] for chart in world["charts"]} >= {
        "nodes in use",
        "Differences from as-it-is with the same seeds",
    }
    table = (await async_client.get(begun.headers["Location"], {"form": "csv"})).content.decode()
    assert len(table.splitlines()) == 7
    asked = {"world": "session", "a": "as-it-is", "b": "packed", "seed": "1"}
    parted = await finished(
        async_client, (await async_client.post(begun.headers["Location"], asked)).headers["Location"]
    )
    assert parted.context["found"].number == 2  # the first pod finds empty nodes under both
    sides = parted.context["sides"]
    assert len({side["node"] for side in sides}) == 2
    for side in sides:
        opened = await SessionClient.open(side["key"])
        assert side["node"] in (await async_client.get(f"/s/{side['key']}/?at={side['at']}")).content.decode()
        assert await opened.head() > side["at"]
    assert await (await SessionClient.open(session.edit_key)).head() == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seeds": 150}, "The experiment has 600 runs. The limit on the server is 200."),
        (
            {"worlds": [{"name": "w", "files": ["/etc/passwd"]}]},
            "received /etc/passwd, but only session.yaml can be read here.",
        ),
        ({"variants": [{"name": "a", "gates": 1}]}, "$.variants[0].gates"),
    ],
)
async def test_a_mistake_is_said_with_its_place(async_client: AsyncClient, change: dict[str, Any], said: str) -> None:
    session = await create_session("Test", commands=[applying(node("n"), pod("p"))])
    address = reverse("experiments", args=[session.view_key])
    file = {**yaml.safe_load((await async_client.get(address)).context["typed"]), **change}
    answer = await async_client.post(address, {"file": yaml.safe_dump(file)})
    assert answer.status_code in (400, 422)
    assert said in answer.content.decode().replace("&#x27;", "'")


async def test_an_experiment_stands_back_is_stopped_and_keeps_its_runs(
    async_client: AsyncClient, standing_back: list[bool]
) -> None:
    pods = [pod(f"p-{number}") for number in range(80)]  # a run takes some time
    session = await create_session("Test", commands=[applying(node("n"), *pods)])
    address = reverse("experiments", args=[session.view_key])
    file = {**yaml.safe_load((await async_client.get(address)).context["typed"]), "seeds": 50}
    begun = await async_client.post(address, {"file": yaml.safe_dump(file)})
    place = begun.headers["Location"]
    while not (await async_client.get(place)).context["done"]:
        await asyncio.sleep(0.1)
    await async_client.post(place, {"stop": "1"})
    stopped = await finished(async_client, place)
    assert 0 < stopped.context["done"] < 200
    assert "The experiment was stopped." in stopped.content.decode()
    assert standing_back.count(True) == 1


@pytest.mark.parametrize(
    ("world", "variant", "said"),
    [
        ({"nodes": {"no": 1}}, {}, "w: received the node type no; expected one of big"),
        ({}, {"release": "2.0"}, "2.0"),
        ({}, {"weights": {"NoPlugin": 2}}, "NoPlugin"),
    ],
)
def test_a_run_that_cannot_be_made_is_refused_in_words(
    world: dict[str, Any], variant: dict[str, Any], said: str
) -> None:
    types = [{"name": "big", "capacity": {"cpu": 4, "memory": "8Gi"}}]
    data = {"worlds": [{"name": "w", **world}], "variants": [{"name": "v", **variant}], "nodeTypes": types}
    (run, *_) = list_runs(msgspec.convert(data, Experiment), "")
    with pytest.raises(CommandRefused, match=said):
        list(make(Engines(TimeSlice()), 0, MakeRun(run=run)))
