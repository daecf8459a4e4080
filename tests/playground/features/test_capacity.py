"""The page of capacity: the nodes that would help, and the nodes that can go."""

from __future__ import annotations

import orjson
import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.sessions.web.client import SessionClient, create_session
from tests.playground.sessions.worlds import applying
from tests.scheduler_core.analysis.whatif.test_outcome import deployment
from tests.scheduler_core.worlds import node, pod

pytestmark = pytest.mark.django_db(transaction=True)
TYPES = "nodeTypes: [{name: big, capacity: {cpu: 8, memory: 8Gi}, price: 0.4}, {name: a, price: 0.2}]"


async def test_the_page_names_the_nodes_that_help_and_adds_them_in_a_fork(async_client: AsyncClient) -> None:
    objects = (node("a", "2"), deployment(6), pod("p", nodeSelector={"disk": "ssd"}))
    session = await create_session("Test", commands=[applying(*objects)])
    address = reverse("capacity", args=[session.view_key])
    text = (await async_client.get(address)).content.decode()
    assert "<b>2 × a</b>" in text
    response = await async_client.post(address, {"types": TYPES})
    text = response.content.decode()
    assert "<b>1 × big</b>" in text
    assert "node affinity/selector" in text
    fields = {
        "command": orjson.dumps(response.context["answer"]["command"]).decode(),
        "pod": "default/p",
        "how": "show",
    }
    applied = await async_client.post(reverse("apply-fix", args=[session.edit_key]), fields)
    assert applied.status_code in (204, 302)
    assert await (await SessionClient.open(session.edit_key)).head() == 1


async def test_the_page_answers_for_one_workload_or_pod(async_client: AsyncClient) -> None:
    objects = (node("a", "2"), deployment(6), pod("p", "2"), pod("q", "1", nodeName="a"))
    session = await create_session("Test", commands=[applying(*objects)])
    address = reverse("capacity", args=[session.view_key])
    page = await async_client.get(address)
    assert page.context["answer"]["choices"][0] == "Deployment/default/web"
    whole = len(page.context["found"]["pods"])
    workload = await async_client.get(address, {"of": "Deployment/default/web"})
    alone = await async_client.get(address, {"of": "default/p"})
    assert len(workload.context["found"]["pods"]) == whole - 1
    assert alone.context["found"]["pods"] == ["default/p"]
    assert '<option value="default/p" selected>' in alone.text
    assert (
        "default/q needs no node: none of its pods waits."
        in (await async_client.get(address, {"of": "default/q"})).text
    )


async def test_the_page_names_the_nodes_that_can_go_and_a_mistake_in_the_types(async_client: AsyncClient) -> None:
    session = await create_session("Test", commands=[applying(*(node(n, "2") for n in "abc"), deployment(3))])
    address = reverse("capacity", args=[session.view_key])
    text = (await async_client.get(address, {"part": "go"})).content.decode()
    assert "You can remove 1 of 3 nodes:" in text
    assert "You cannot remove a larger set." in text
    text = (await async_client.post(address, {"types": "nodeTypes: [{name: x}]"})).content.decode()
    assert "x has no capacity, and no node is of a type of that name" in text
    bad = "nodeTypes: [{name: x, capacity: {cpu: -2, memory: 1Gi}}]"
    more = [applying(node("n", "1"), pod("p", "2"))]
    address = reverse("capacity", args=[(await create_session("Test", commands=more)).view_key])
    assert "must be greater than or equal to 0" in (await async_client.post(address, {"types": bad})).content.decode()
