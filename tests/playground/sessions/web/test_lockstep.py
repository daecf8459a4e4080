"""Two sessions side by side under one transport: they come level by attempt and extension point, and what differs is marked."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest
import yaml
from django.test import AsyncClient
from django.urls import reverse

from playground.sessions.protocol.comparing import Outline
from playground.sessions.web.client import SessionClient
from tests.playground.sessions.web.test_comparing import LEAST, to_the_end
from tests.playground.sessions.worlds import applying, node

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def other(client: SessionClient) -> SessionClient:
    """A branch whose scheduler prefers full nodes; both have gone on to their ends."""
    fork = await client.fork(at=1)
    await fork.apply(applying(node("n0", cpu="8")))
    await fork.apply({"kind": "SetConfiguration", "configuration": LEAST})
    for one in (client, fork):
        await to_the_end(one)
    return fork


async def page(client: SessionClient, **query: object) -> str:
    answer = await AsyncClient().get(reverse("lockstep", args=[client.key]), query)
    assert answer.status_code == 200, answer.content.decode()[-1500:]
    return str(answer.content.decode())


def way(text: str, name: str) -> dict[str, str]:
    """Where a way of the transport leads to."""
    for link in re.findall(r"<a\s[^>]*>", text):
        if f'data-way="{name}"' in link:
            address = re.search(r'href="\?([^"]*)"', link)
            assert address is not None
            return {key: values[0] for key, values in parse_qs(address[1].replace("&amp;", "&")).items()}
    raise AssertionError(f"The page has no way {name}.")


async def test_both_stages_stand_where_the_address_says(client: SessionClient, other: SessionClient) -> None:
    text = await page(client, **{"with": other.key, "at": 1, "b": 1})
    for session in (client.session, other.session):
        assert f"{reverse('embed', args=[session.view_key])}?at=1&amp;pane=1" in text


async def test_a_step_that_only_one_made_leaves_the_other_where_it_is(
    client: SessionClient, other: SessionClient
) -> None:
    text = await page(client, **{"with": other.key, "at": 1, "b": 1})
    assert (way(text, "step")["at"], way(text, "step")["b"]) == ("1", "2")


async def test_after_the_commands_of_one_both_step_together(client: SessionClient, other: SessionClient) -> None:
    text = await page(client, **{"with": other.key, "at": 1, "b": 3, "by": "point"})
    step = way(text, "step")
    assert int(step["b"]) - int(step["at"]) == 2


async def test_the_first_difference_is_marked(client: SessionClient, other: SessionClient) -> None:
    text = await page(client, **{"with": other.key, "at": 1, "b": 1})
    there = way(text, "first")
    text = await page(client, **there)
    assert 'aria-label="differs"' in text
    assert "NodeResourcesFit" in text


async def test_a_fragment_has_only_what_changes(client: SessionClient, other: SessionClient) -> None:
    text = await page(client, **{"with": other.key, "attempt": 1, "part": 1})
    assert 'id="lockstep-bar"' in text
    assert 'id="lockstep-now"' in text
    assert "<iframe" not in text


async def test_without_another_session_one_is_chosen(client: SessionClient) -> None:
    fork = await client.fork(at=1, name="Another way")
    text = await page(client)
    assert "Another way" in text
    assert f"?with={fork.key}" in text


async def test_another_configuration_is_tried_in_a_branch_beside_the_session(client: SessionClient) -> None:
    await to_the_end(client)
    form = {"text": yaml.safe_dump(LEAST), "beside": "1"}
    answer = await AsyncClient().post(reverse("configuration", args=[client.key]), form)
    assert answer.status_code == 302, re.findall(r"(?s)role=\"alert\".{600}", answer.content.decode())
    query = parse_qs(answer.headers["Location"].partition("?")[2])
    fork = await SessionClient.open(query["with"][0])
    outline = await fork.ask(Outline(at=await fork.head(), since=0))
    assert outline.tried == 4
    text = await page(client, **{"with": fork.key})
    assert "NodeResourcesFit" in text
