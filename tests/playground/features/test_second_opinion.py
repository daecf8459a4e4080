"""The page about schedulers from outside: the fork that one works in, what it bound, and what our filters say of that."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from django.test import AsyncClient
from django.urls import reverse

from playground.features.second_opinion import views
from playground.sessions.web.client import create_session
from scheduler_core.world.commands import SetConfiguration
from tests.playground.sessions.worlds import applying
from tests.scheduler_core.worlds import node, pod

pytestmark = pytest.mark.django_db(transaction=True)
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 50,
}


async def ask(client: AsyncClient, key: str, method: str, path: str, body: Any) -> Any:
    """A request of a client to the session's API."""
    address = reverse("door-path", args=[key, path])
    send = getattr(client, method)
    answer = await send(address, json.dumps(body), content_type="application/json", headers={"User-Agent": "mine/1"})
    return json.loads(answer.content)


async def test_a_fork_is_made_for_a_scheduler_from_outside_and_shows_what_it_did(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = (node("a", "2"), node("b", "4"), pod("p", "1"), pod("q", "3"))
    session = await create_session("Test", commands=[SetConfiguration(CONFIG), applying(*objects)])
    text = (await async_client.get(reverse("second-opinion", args=[session.view_key]))).content.decode()
    assert "Fork for another scheduler" in text
    begun = await async_client.post(reverse("second-opinion-begin", args=[session.edit_key]), {"release": "1.36.3"})
    address = begun.headers["Location"]
    key = address.split("/")[2]
    config = (await async_client.get(reverse("second-opinion-data", args=[key, "config.yaml"]))).content
    assert yaml.safe_load(config)["percentageOfNodesToScore"] == 50
    progress = (await async_client.get(reverse("second-opinion-data", args=[key, "progress.json"]))).json()
    assert (progress["schedulers"], progress["waiting"], progress["undecided"]) == ([], 2, 2)
    assert progress["release"] == "1.36.3"
    for name, where in (("p", "a"), ("q", "a")):
        done = await ask(
            async_client,
            key,
            "post",
            f"api/v1/namespaces/default/pods/{name}/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"name": where}},
        )
        assert done["status"] == "Success"
    page = (await async_client.get(address)).content.decode()
    assert page.count("<td>mine</td>") == 2
    page = (await async_client.get(address, {"pod": "default/q"})).content.decode()
    assert "a is refused: Insufficient cpu (NodeResourcesFit)" in page
    monkeypatch.setattr(views, "SECONDS", 0.0)
    unfinished = (await async_client.get(reverse("second-opinion-data", args=[key, "opinion.json"]))).json()
    assert unfinished["late"] and not unfinished["pods"]
    assert "The comparison appears here" in (await async_client.get(address)).content.decode()
    monkeypatch.setattr(views, "SECONDS", 10.0)
    found = (await async_client.get(reverse("second-opinion-data", args=[key, "opinion.json"]))).json()
    rows = {row["pod"]: row for row in found["pods"]}
    assert rows["default/q"]["ours"]["node"] == "b"
    assert "node" in rows["default/q"]["different"]


async def test_a_release_that_is_not_modeled_is_refused(async_client: AsyncClient) -> None:
    session = await create_session("Test", commands=[applying(node("a", "2"))])
    answer = await async_client.post(reverse("second-opinion-begin", args=[session.edit_key]), {"release": "1.20.0"})
    assert answer.status_code == 400
    assert "1.20.0" in answer.content.decode()
