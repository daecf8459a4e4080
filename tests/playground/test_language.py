"""Pages and what is sent to them are in their reader's language."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.translation import override
from msgspec import convert, to_builtins

from playground.presenters.panel import Panel, PanelChange
from playground.presenters.words import message
from playground.sessions.protocol.errors import Failure, LimitReached
from playground.sessions.protocol.moving import Movement
from playground.sessions.protocol.until import PodAttempted
from playground.sessions.web.messages import Error, why_ended
from playground.sessions.web.publisher import Viewer, render_delta

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


def test_an_error_made_in_a_worker_is_said_in_its_readers_language() -> None:
    made = LimitReached(message("This session already has %(most)s viewers, which is the limit.", most=3))
    arrived = convert(to_builtins(Failure.of(made)), Failure).error()
    assert isinstance(arrived, LimitReached)
    said: dict[str, Error] = {}
    for language in ("en", "zh-hans"):
        viewer = Viewer(lambda heard, language=language: said.update({language: heard}), False, language)  # type: ignore[misc]
        viewer.say(lambda: Error.of(arrived))
    assert said["en"].message == arrived.message == "This session already has 3 viewers, which is the limit."
    assert said["zh-hans"].message == "本会话已有 3 个查看者，达到上限。"
    assert said["en"].kind == said["zh-hans"].kind == "limit"


def test_why_a_run_ended_is_said_in_its_readers_language() -> None:
    moved = Movement(0, 9, 0, 0, "idle")
    until = PodAttempted("default/web")
    assert why_ended(moved, until, 9).endswith("never met: an attempt of default/web ends.")
    with override("zh-hans"):
        assert (
            why_ended(moved, until, 9) == "模拟已没有后续步骤，而运行等待的条件没有出现：default/web 的一次尝试结束。"
        )
