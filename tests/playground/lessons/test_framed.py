"""A lesson within another site's page: played to its end without a cookie, and only by forms of this server's own pages."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from playground.models import Session

OWN = {"origin": "http://testserver"}
pytestmark = pytest.mark.django_db(transaction=True)


def is_frameable(answer: object) -> bool:
    headers = answer.headers  # type: ignore[attr-defined]
    return "frame-ancestors *" in headers["Content-Security-Policy"] and "X-Frame-Options" not in headers


def test_a_lesson_is_played_in_a_frame_without_cookies_and_tokens() -> None:
    browser = Client(enforce_csrf_checks=True)
    page = reverse("lesson-embed", args=["labels"])
    assert is_frameable(browser.get(page, {"lang": "zh-hans"}))
    assert not Session.objects.exists()
    begun = browser.post(page, {"lang": "en", "card": "1"}, headers=OWN)
    assert begun.status_code == 302
    here = begun.headers["Location"]
    cards: list[str] = []
    for _card in range(12):
        shown = browser.get(here)
        text = shown.content.decode()
        assert is_frameable(shown)
        number = re.search(r'name="card" value="(\d+)"', text)
        assert number is not None
        cards.append(number[1])
        for heading in re.findall(r"<h2>\s*Pod\b(.*?)</h2>", text, re.DOTALL):
            assert re.search(r"\w", re.sub(r"<[^>]+>", "", heading)), "a pod of the evidence has no name"
        if 'value="answer"' in text:
            told = browser.post(here, {"act": "answer", "card": number[1], "show": "1"}, headers=OWN).content.decode()
            assert 'class="verdict' in told
        if 'value="task"' in text:
            break
        assert browser.post(here, {"act": "next", "card": number[1]}, headers=OWN).status_code == 302
    assert cards == [str(number) for number in range(1, len(cards) + 1)]
    forked = browser.post(here, {"act": "task", "card": cards[-1]}, headers=OWN).headers["Location"]
    assert 'class="goals"' in browser.get(forked).content.decode()
    refused = browser.post(forked, {"act": "apply", "text": "kind: nonsense", "task": "1"}, headers=OWN)
    assert refused.status_code == 400
    assert is_frameable(refused)
    assert not browser.cookies


def test_a_form_of_another_site_or_of_no_known_page_is_refused() -> None:
    browser = Client(enforce_csrf_checks=True)
    page = reverse("lesson-embed", args=["labels"])
    for headers in ({"origin": "http://elsewhere.example"}, {"origin": "null"}, {}):
        assert browser.post(page, {"card": "1"}, headers=headers).status_code == 403
    assert not Session.objects.exists()
    here = browser.post(page, {"card": "1"}, headers=OWN).headers["Location"]
    assert browser.post(here, {"act": "next", "card": "1"}, headers={"origin": "null"}).status_code == 403
    key = here.split("/")[2]
    assert browser.post(reverse("step", args=[key]), headers=OWN).status_code == 403  # other forms need their token


def test_a_view_link_plays_no_lesson() -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.post(reverse("lesson-embed", args=["labels"]), {"card": "1"}, headers=OWN)
    session = Session.objects.get()
    assert browser.get(reverse("framed-lesson", args=[session.view_key])).status_code == 403
