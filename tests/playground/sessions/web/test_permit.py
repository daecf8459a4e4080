"""Somebody decides on a pod that waits on Permit."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Session
from playground.presenters import Look
from playground.sessions.protocol.looking import ObjectYaml
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.worker.world import Grain
from tests.playground.sessions.worlds import applying, node, pod

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def waiting(transactional_db: None) -> Session:
    """A session whose only pod waits on Permit."""
    waits = pod("waits")
    waits["metadata"]["annotations"] = {"playground.dev/permit": "wait:10m"}
    settings = {"kind": "SetSettings", "settings": {"demonstration": True}}
    session = await create_session("Test", commands=[settings, applying(node("n0"), waits)])
    client = await SessionClient.open(session.edit_key)
    for _ in range(100):
        if await places(client) == {"permit": ["default/waits"]}:
            break
        await step(client)
    await session.arefresh_from_db()
    return session


async def step(client: SessionClient) -> None:
    await client.on_loop(lambda live: live.changes.step(Grain.CALL))


async def places(client: SessionClient) -> dict[str, list[str]]:
    """The pods of each group of the queues panel that has some."""
    shown, _head = await client.view(Look(), ["queues"])
    cards = shown.panels["queues"].cards.values()
    return {card["name"]: [one["key"] for one in card["pods"]] for card in cards if card["pods"]}


async def decide(
    session: Session, decision: str, key: str = "", headers: dict[str, str] | None = None, **more: str
) -> Any:
    form = {"pod": "default/waits", "decision": decision, **more}
    url = reverse("permit", args=[key or session.edit_key])
    return await AsyncClient().post(url, form, headers=headers)


async def placed(session: Session) -> str:
    client = await SessionClient.open(session.edit_key)
    for _ in range(10):
        await step(client)
    shown = await client.ask(ObjectYaml(kind="Pod", namespace="default", name="waits"))
    manifest = yaml.safe_load(shown.text)
    return str(manifest["spec"].get("nodeName", ""))


async def test_a_pod_that_is_allowed_is_bound(waiting: Session) -> None:
    response = await decide(waiting, "allow")
    assert response["Location"] == reverse("studio", args=[waiting.edit_key])
    assert await placed(waiting) == "n0"


async def test_a_pod_that_is_rejected_gives_its_place_back(waiting: Session) -> None:
    await decide(waiting, "reject")
    assert await placed(waiting) == ""
    client = await SessionClient.open(waiting.edit_key)
    assert "permit" not in await places(client)


async def test_the_page_offers_both_decisions(waiting: Session) -> None:
    page = (await AsyncClient().get(reverse("studio", args=[waiting.edit_key]))).content.decode()
    assert 'action="permit"' in page
    assert page.count('name="decision"') == 6  # in the queues, its binding lane and the inspector


async def test_deciding_in_the_past_forks(waiting: Session) -> None:
    client = await SessionClient.open(waiting.edit_key)
    await client.apply(applying(pod("later")))
    response = await decide(waiting, "allow", at=str(waiting.head), past="fork")
    fork = await Session.objects.exclude(pk=waiting.pk).aget()
    assert response["Location"] == reverse("studio", args=[fork.edit_key])
    assert await placed(fork) == "n0"
    assert "permit" in await places(client)


async def test_a_decision_that_is_refused_in_the_past_leaves_no_fork(waiting: Session) -> None:
    response = await decide(waiting, "allow", at="1", past="fork")
    assert response.status_code == 422
    assert b"a pod that waits on Permit" in response.content
    assert await Session.objects.filter(deleted=None).acount() == 1


async def test_a_view_link_may_not_decide(waiting: Session) -> None:
    assert (await decide(waiting, "allow", waiting.view_key)).status_code == 403
    assert await places(await SessionClient.open(waiting.edit_key)) == {"permit": ["default/waits"]}


@pytest.mark.parametrize("decision", ["", "maybe"])
async def test_only_allow_and_reject_are_decisions(waiting: Session, decision: str) -> None:
    assert (await decide(waiting, decision)).status_code == 422


async def test_htmx_gets_no_page_because_the_stream_shows_the_change(waiting: Session) -> None:
    response = await decide(waiting, "allow", headers={"HX-Request": "true"})
    assert (response.status_code, response.content) == (204, b"")
