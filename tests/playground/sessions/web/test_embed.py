"""The embedded stage: any page may frame it, it sets no cookie, and it never shows an edit key."""

from __future__ import annotations

import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Session

pytestmark = pytest.mark.django_db(transaction=True)


def address(session: Session, page: str = "") -> str:
    return reverse("embed", args=[session.view_key]) + page


async def test_any_page_may_frame_the_stage_and_no_cookie_is_set(session: Session) -> None:
    answer = await AsyncClient().get(address(session))
    assert answer.status_code == 200
    assert "frame-ancestors *" in answer.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer.headers
    assert not answer.cookies
    page = answer.content.decode()
    assert 'id="panel-stage"' in page
    assert session.edit_key not in page


@pytest.mark.parametrize(("page", "by", "option"), [("studio", "'self'", "SAMEORIGIN"), ("session", "'none'", "DENY")])
async def test_no_page_of_others_may_frame_anything_else(session: Session, page: str, by: str, option: str) -> None:
    answer = await AsyncClient().get(reverse(page, args=[session.view_key]))
    assert f"frame-ancestors {by};" in answer.headers["Content-Security-Policy"] + ";"
    assert answer.headers["X-Frame-Options"] == option


async def test_an_edit_key_leads_to_the_view_links_stage(session: Session) -> None:
    answer = await AsyncClient().get(reverse("embed", args=[session.edit_key]), {"at": "1"})
    assert answer.headers["Location"] == address(session) + "?at=1"


async def test_a_page_of_the_session_is_found_from_within(session: Session) -> None:
    answer = await AsyncClient().get(address(session, "nodes.json"), {"at": "1"})
    assert answer.headers["Location"] == reverse("nodes", args=[session.view_key]) + "?at=1"


async def test_a_link_that_opens_nothing_is_said_to(session: Session) -> None:
    assert (await AsyncClient().get(reverse("embed", args=["nobody"]))).status_code == 404
