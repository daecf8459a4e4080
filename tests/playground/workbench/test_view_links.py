"""View links that end, links to a step, and forking by one click."""

import asyncio
from datetime import timedelta

import pytest
from channels.testing import WebsocketCommunicator
from django.test import Client
from django.utils import timezone

from playground.models import Session, ViewLink
from playground.sessions.database import links
from playground.sessions.web import consumers
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_build import NODES, PODS


@pytest.fixture
def begun(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("build/pods", **PODS)
    begun.ask(lambda client: client.walk(30))
    return begun


def made(begun, term="day"):
    """A view link that was just made, and its session's address by it."""
    assert begun.post("links", term=term).status_code == 302
    link = ViewLink.objects.latest("pk")
    return link, f"/s/{link.key}/"


def over(link):
    """Its time is over."""
    ViewLink.objects.filter(pk=link.pk).update(until=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize(("term", "days"), [("day", 1), ("week", 7), ("never", None)])
def test_a_view_link_is_made_for_a_time_and_shown_with_its_end(begun, term, days):
    link, address = made(begun, term)
    page = begun.get("session")
    assert f"{address}" in page.content.decode()
    if days is None:
        assert link.until is None and "Ends when you revoke it" in page_text(page)
    else:
        assert abs(link.until - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)
        assert f"Ends on {link.until:%Y-%m-%d %H:%M} UTC" in page_text(page)


def test_it_shows_the_session_and_changes_nothing(begun):
    _link, address = made(begun)
    stranger = Client()
    assert stranger.get(address).status_code == 200
    assert stranger.get(address + "export.jsonl").status_code == 200
    assert stranger.post(address + "build/nodes", NODES).status_code == 403
    assert stranger.post(address + "links", {"term": "never"}).status_code == 403


def test_it_leads_to_no_other_link(begun):
    _link, address = made(begun)
    made(begun, "never")
    lasting = [begun.session.edit_key, begun.session.view_key, ViewLink.objects.latest("pk").key]
    stranger = Client()
    embedded = address.replace("/s/", "/embed/")
    forked = stranger.post(address + "fork", {"at": 3})["Location"]
    pages = [address, embedded, *(address + room for room in ("session", "branches", "commands"))]
    for page in (*pages, forked, forked + "branches", "/"):
        answer = stranger.get(page)
        assert answer.status_code == 200, page
        text = answer.content.decode()
        assert [key for key in lasting if key in text] == [], page


@pytest.mark.parametrize("room", ["", "session", "export.jsonl", "replay.html", "fork-this"])
def test_one_that_has_ended_answers_410_in_words(begun, room):
    link, address = made(begun)
    over(link)
    answer = Client().get(address + room)
    assert answer.status_code == 410
    assert "This link has ended" in page_text(answer) and "Ask the person who shared" in page_text(answer)
    assert Client().get(address.replace("/s/", "/embed/")).status_code == 410
    assert f"Link {link.pk}: ended on" in page_text(begun.get("session"))


def test_one_that_was_taken_back_answers_410_and_the_others_stand(begun):
    link, address = made(begun, "never")
    _other, stands = made(begun, "never")
    assert begun.post("links", revoke=link.pk).status_code == 302
    answer = Client().get(address)
    assert answer.status_code == 410 and "was revoked" in page_text(answer)
    assert Client().get(stands).status_code == 200
    assert Client().get(begun.view_url).status_code == 200
    assert f"Link {link.pk}: revoked on" in page_text(begun.get("session"))


def test_a_link_of_a_deleted_session_is_gone(begun):
    link, address = made(begun, "never")
    begun.post("delete")
    assert Client().get(address).status_code == 404
    over(link)
    assert Client().get(address).status_code == 404


def test_what_makes_no_sense_is_refused(begun, visitor):
    link, _address = made(begun)
    assert begun.post("links", term="year").status_code == 400
    assert begun.post("links").status_code == 400
    assert visitor("empty").post("links", revoke=link.pk).status_code == 404
    assert ViewLink.objects.get().stands


def test_a_session_has_a_limited_number_of_them(begun, monkeypatch):
    monkeypatch.setattr(links, "MOST", 2)
    first, _address = made(begun)
    made(begun)
    assert begun.post("links", term="day").status_code == 422
    over(first)
    assert begun.post("links", term="day").status_code == 302


def test_the_first_page_lists_a_session_by_a_link_as_long_as_that_stands(begun):
    link, address = made(begun)
    stranger = Client()
    stranger.get(address)
    assert link.key in stranger.get("/").content.decode()
    over(link)
    assert link.key not in stranger.get("/").content.decode()


def test_an_open_page_is_closed_when_its_link_ends(begun, monkeypatch):
    monkeypatch.setattr(consumers, "LINK_SECONDS", 0.05)
    link, address = made(begun)
    assert begun.post("links", revoke=link.pk).status_code == 302
    stands = iter([True, True, False])
    monkeypatch.setattr(links, "stands", lambda _key: next(stands))
    ViewLink.objects.update(revoked=None)

    async def heard():
        socket = WebsocketCommunicator(consumers.SessionConsumer.as_asgi(), f"/ws{address}")
        socket.scope["url_route"] = {"kwargs": {"key": link.key}}
        assert (await socket.connect())[0]
        text = await socket.receive_from(10)
        closed = await socket.receive_output(10)
        return text, closed

    text, closed = asyncio.run(heard())
    assert '"gone"' in text and closed["type"] == "websocket.close" and closed["code"] == 4404


def test_a_fork_is_asked_for_by_a_page_and_made_by_its_form(begun):
    stranger = Client()
    page = stranger.get(begun.view_url + "fork-this", {"at": 7})
    assert "up to step 7" in page_text(page) and "data-now" not in page.content.decode()
    assert Session.objects.count() == 1
    page = stranger.get(begun.view_url + "fork-this", {"at": 7}, headers={"Sec-Fetch-Site": "same-origin"})
    assert "data-now" in page.content.decode()
    fork = stranger.post(begun.view_url + "fork", {"at": 7})
    assert fork.status_code == 302
    mine = Session.objects.latest("pk")
    assert (mine.head, fork["Location"]) == (7, f"/s/{mine.edit_key}/")
    assert mine.edit_key in stranger.get("/").content.decode()


def test_a_page_of_another_site_makes_no_fork_by_a_link(begun):
    page = Client().get(begun.view_url + "fork-this", headers={"Sec-Fetch-Site": "cross-site"})
    assert "data-now" not in page.content.decode()


def test_the_studio_by_a_view_link_and_the_embedded_stage_offer_a_fork(begun):
    stranger = Client()
    assert 'id="fork-this"' in stranger.get(begun.view_url + "?at=7").content.decode()
    assert 'id="fork-this"' not in begun.get("").content.decode()
    embedded = stranger.get(begun.view_url.replace("/s/", "/embed/"), {"at": 7}).content.decode()
    assert f'href="{begun.view_url}fork-this?at=7"' in embedded


def test_a_link_with_step_stage_and_subject_opens_them(begun):
    page = Client().get(begun.view_url + "?at=25&stage=filter&about=node&node=node-1").content.decode()
    assert 'data-stage="filter"' in page and 'data-seen="25"' in page
