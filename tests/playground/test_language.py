"""Pages and what is sent to them are in their reader's language."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.translation import override

from playground.presenters.panel import Panel
from playground.sessions.protocol.looking import PanelChange
from playground.sessions.web.render import render_delta

CHINESE = {"headers": {"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}}


@pytest.mark.django_db
def test_a_page_is_in_the_language_that_the_browser_asks_for() -> None:
    assert '<html lang="zh-hans"' in Client(**CHINESE).get("/").content.decode()
    assert '<html lang="en"' in Client().get("/").content.decode()


@pytest.mark.django_db
def test_a_language_that_was_chosen_is_kept() -> None:
    browser = Client(**CHINESE)
    answer = browser.post("/language", {"language": "en", "next": "/"})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert '<html lang="en"' in browser.get("/").content.decode()


def test_a_delta_is_in_its_readers_language_whoever_makes_it() -> None:
    context = {"position": 3, "now": "00:00:00.000", "profile": "p", "idle": False}
    change = PanelChange("transport", Panel("transport", context))
    with override("zh-hans"):
        chinese = render_delta([change])
    assert render_delta([change], "zh-hans") == chinese
    assert "virtual time" in render_delta([change], "en")
    assert "virtual time" not in chinese
