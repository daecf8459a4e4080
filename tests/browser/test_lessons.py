"""Lessons, played through in a real browser: two of them here, all of them in `make test-long`, each in both languages."""

import os
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from playground.lessons import LANGUAGES, lesson_of, play, read_lessons
from playground.lessons.variants import proven
from tests.browser.lessons import Learner
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long
SLUGS = [lesson.slug for lesson in read_lessons()] if THOROUGH else ["gate", "preemption"]
LOCALES = {"en": "en-GB", "zh-hans": "zh-CN"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_is_played_from_its_first_card_to_the_next_lesson(
    slug: str,
    language: str,
    server: PlaygroundServer,
    new_context: Callable[..., BrowserContext],
    accessible: Callable[[Page], None],
) -> None:
    lesson = lesson_of(slug)
    assert lesson is not None
    page = new_context(locale=LOCALES[language], reduced_motion="reduce").new_page()
    learner = Learner(page, lesson, play(lesson), language)
    learner.begin(server.url)
    cards = lesson.plan.cards
    looked_at = {1, len(cards) // 2 + 1, len(cards)}
    for number, card in enumerate(cards, 1):
        learner.stands_at(number)
        if card.question is not None:
            learner.answer(card)
        assert learner.spotlit() > 0 or not card.spotlight, f"card {card.id}: nothing is marked"
        if number in looked_at:
            accessible(page)
        if number < len(cards):
            learner.go_on(number, card)
    learner.do_the_task(server.url)
    learner.leads_on()


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_variant_has_other_numbers_and_its_own_answer(
    language: str,
    server: PlaygroundServer,
    new_context: Callable[..., BrowserContext],
    accessible: Callable[[Page], None],
) -> None:
    lesson = lesson_of("bin-packing")
    assert lesson is not None
    page = new_context(locale=LOCALES[language], reduced_motion="reduce").new_page()
    page.goto(server.url)
    page.locator('[data-lesson="bin-packing"] button[name=lesson]').click()
    connected(page)
    first, address = page.locator("#panel-story .pill").text_content(), page.url
    page.locator("#panel-story form.another button").click()
    page.wait_for_url(lambda url: url != address)
    connected(page)
    pill = page.locator("#panel-story .pill")
    assert pill.text_content() != first
    seed = (pill.text_content() or "").split()[-1]
    variant = proven(lesson, seed, 1_000).lesson
    learner = Learner(page, variant, play(variant), language)
    learner.answer(learner.stands_at(1))
    accessible(page)
    page.reload()
    connected(page)
    expect(pill).to_contain_text(seed)
    assert page.evaluate("JSON.parse(localStorage.getItem('lessons'))")["bin-packing"] == 1
