"""Lessons, played through in a real browser: two of them here, each in one language, all of them in `make test-long`, each in both,
and one of each track on a phone."""

import os
from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from playground.lessons import LANGUAGES, lesson_of, play, read_lessons
from playground.lessons.variants import proven
from tests.browser.conftest import Complaints
from tests.browser.lessons import Learner
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long
SLUGS = [lesson.slug for lesson in read_lessons()] if THOROUGH else ["priority-class", "preemption"]
WIDE, PHONE = ViewportSize(width=1280, height=720), ViewportSize(width=390, height=844)
FIRST_OF_TRACKS = list({lesson.plan.track: lesson.slug for lesson in reversed(read_lessons())}.values())  # ten
INSIDE = "document.activeElement.closest(':is(#rail, #points, #stage) > *')?.outerHTML.slice(0, 200) ?? ''"
OVERHANG = "(given => given ? given.scrollWidth - given.clientWidth : 0)(document.querySelector('#stage .given'))"
HIDDEN = "Hidden until you answer"
LOCALES = {"en": "en-GB", "zh-hans": "zh-CN"}


@pytest.mark.parametrize(
    ("slug", "language", "size"),
    [*((*each, WIDE) for each in product(SLUGS, LANGUAGES)), *((slug, "en", PHONE) for slug in FIRST_OF_TRACKS)]
    if THOROUGH
    else [*zip(SLUGS, LANGUAGES, (WIDE, WIDE), strict=True)],
)
def test_a_lesson_is_played_from_its_first_card_to_the_next_lesson(
    slug: str,
    language: str,
    size: ViewportSize,
    server: PlaygroundServer,
    new_context: Callable[..., BrowserContext],
    accessible: Callable[[Page], None],
) -> None:
    lesson = lesson_of(slug)
    assert lesson is not None
    page = new_context(locale=LOCALES[language], reduced_motion="reduce", viewport=size).new_page()
    learner = Learner(page, lesson, play(lesson), language)
    learner.begin(server.url)
    cards = lesson.plan.cards
    looked_at = {1, len(cards) // 2 + 1, len(cards)}
    for number, card in enumerate(cards, 1):
        learner.stands_at(number)
        if card.question is not None:
            assert page.evaluate(OVERHANG) == 0, f"card {card.id}: what is known is wider than its place"
            learner.answer(card)
        assert learner.spotlit() > 0 or not card.spotlight or size == PHONE, f"card {card.id}: nothing is marked"
        if number in looked_at:
            accessible(page)
        if number < len(cards):
            learner.go_on(number, card, by_next=language == "en")
    learner.do_the_task(server.url)
    learner.leads_on()


@pytest.mark.parametrize(
    ("slug", "card", "gives_away"),
    [("requests", "full", "#rail .pod u"), ("permit-and-bind", "wait", "#points .point.now")],
)
def test_queues_and_extension_points_are_covered_where_they_show_the_answer(
    slug: str, card: str, gives_away: str, server: PlaygroundServer, page: Page, accessible: Callable[[Page], None]
) -> None:
    lesson = lesson_of(slug)
    assert lesson is not None
    learner = Learner(page, lesson, play(lesson), "en")
    learner.begin(server.url)
    cards = lesson.plan.cards
    number = [each.id for each in cards].index(card) + 1
    for earlier, each in enumerate(cards[: number - 1], 1):
        if each.question is not None:
            learner.answer(each)
        learner.go_on(earlier, each)
    shown = page.locator(gives_away).first
    expect(shown).to_be_attached()
    expect(shown).to_be_hidden()
    for place, said in (("#rail", HIDDEN), ("#points", HIDDEN), ("#stage", "The outcome is hidden.")):
        tree = page.locator(place).aria_snapshot()
        assert said in tree
        assert "link" not in tree and "listitem" not in tree, tree
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(INSIDE))
    assert reached == {""}, reached
    accessible(page)
    learner.answer(cards[number - 1])
    expect(shown).to_be_visible()
    expect(page.locator(".veil").first).to_be_hidden()


def test_on_a_phone_a_message_leaves_the_buttons_of_a_card_free(
    server: PlaygroundServer, page: Page, complaints: Complaints
) -> None:
    complaints.forgive("400 (Bad Request)")
    complaints.forgive("Response Status Error Code 400")
    lesson = lesson_of("taints")
    assert lesson is not None
    page.set_viewport_size(PHONE)
    learner = Learner(page, lesson, play(lesson), "en")
    learner.begin(server.url)
    expect(learner.panel.locator(".option").last).to_be_in_viewport(ratio=1)
    learner.panel.locator(".answers.primary").click()
    toast = page.locator(".toast").bounding_box()
    answer = learner.panel.locator(".answers.primary").bounding_box()
    assert toast and answer
    assert toast["y"] + toast["height"] < learner.panel.bounding_box()["y"] < answer["y"]  # type: ignore[index]


def to_card(learner: Learner, url: str, number: int) -> None:
    """Play on to a card; each answer is shown."""
    learner.begin(url)
    for at in range(1, number):
        card = learner.stands_at(at)
        if card.question is not None:
            learner.panel.get_by_role("button", name="Show the answer").first.click()
        learner.go_on(at, card, by_next=True)


def test_on_a_phone_a_lesson_has_one_header_row_and_filter_names_its_plugins(
    server: PlaygroundServer, page: Page, accessible: Callable[[Page], None]
) -> None:
    lesson = lesson_of("first-placement")
    assert lesson is not None
    page.set_viewport_size(PHONE)
    to_card(Learner(page, lesson, play(lesson), "en"), server.url, 3)
    for name in ("TaintToleration", "NodeResourcesFit"):
        expect(page.locator(".heads .head").filter(has_text=name)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("row").filter(has_text="small")).to_be_in_viewport(ratio=1)
    top = page.locator("#points").bounding_box()
    assert top and top["y"] <= 56
    accessible(page)


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_goals_of_a_task_stay_in_sight_while_a_form_is_open_and_fixes_wait_for_the_hint(
    size: ViewportSize, server: PlaygroundServer, page: Page
) -> None:
    lesson = lesson_of("two-configurations")
    assert lesson is not None
    page.set_viewport_size(size)
    learner = Learner(page, lesson, play(lesson), "en")
    to_card(learner, server.url, len(lesson.plan.cards))
    here = page.url
    learner.panel.get_by_role("button", name="Try it on a fork").click()
    page.wait_for_url(lambda address: address.partition("?")[0] != here.partition("?")[0])
    connected(page)
    fixes = page.locator(":is(.best-fix, .findings .act):visible")
    expect(page.locator(".findings")).to_be_visible()
    expect(fixes).to_have_count(0)
    learner.panel.get_by_role("link", name="Create a pod").click()
    expect(page.locator("#drawer").get_by_label("Replicas")).to_be_in_viewport()
    expect(learner.panel.locator(".goals li").first).to_be_in_viewport(ratio=1)
    page.locator("[data-drawer-close]").click()
    learner.panel.get_by_text("Give me a hint").click()
    expect(fixes.first).to_be_visible()
    page.reload()
    connected(page)
    expect(fixes.first).to_be_visible()


def test_an_offer_that_was_taken_is_ticked_on_its_card(server: PlaygroundServer, page: Page) -> None:
    lesson = lesson_of("hints")
    assert lesson is not None
    learner = Learner(page, lesson, play(lesson), "en")
    to_card(learner, server.url, 2)
    learner.panel.get_by_role("button", name="Show the answer").first.click()
    learner.panel.get_by_role("button", name="Delete batch").click()
    expect(learner.panel).to_have_attribute("data-acted", "")
    learner.stands_at(2)
    offer = learner.panel.get_by_role("button", name="Delete batch")
    assert offer.evaluate("button => getComputedStyle(button, '::before').content") == '"✓ "'
    learner._next()
    learner.stands_at(3)


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_end_of_a_task_shows_the_nodes_and_what_was_learned(
    size: ViewportSize, server: PlaygroundServer, page: Page
) -> None:
    lesson = lesson_of("gate")
    assert lesson is not None
    page.set_viewport_size(size)
    learner = Learner(page, lesson, play(lesson), "en")
    to_card(learner, server.url, len(lesson.plan.cards))
    learner.do_the_task(server.url)
    expect(page.locator("#panel-map #node-node-1")).to_be_in_viewport()
    expect(learner.panel.get_by_role("heading", name="In short")).to_be_visible()
    expect(learner.panel.get_by_role("button", name="Next lesson")).to_be_in_viewport(ratio=1)


def test_who_stands_in_the_queues_is_led_to_the_question_that_covers_them(server: PlaygroundServer, page: Page) -> None:
    lesson = lesson_of("preemption")
    assert lesson is not None
    learner = Learner(page, lesson, play(lesson), "en")
    learner.begin(server.url)
    learner.panel.get_by_role("button", name="Show the answer").first.click()
    learner.panel.get_by_role("button", name="Next", exact=True).click()
    learner.stands_at(2)
    learner.panel.get_by_role("button", name="Show the answer").first.click()
    expect(page.locator("body:not([data-covered])")).to_be_visible()
    page.locator("#rail .pod a").first.focus()
    page.locator("#grain").select_option("call")
    page.locator("#rail .pod a").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    learner.stands_at(3)
    expect(learner.panel).to_be_focused()


@pytest.mark.parametrize("language", LANGUAGES if THOROUGH else LANGUAGES[1:])
def test_another_variant_has_other_numbers_and_its_own_answer(
    language: str,
    server: PlaygroundServer,
    new_context: Callable[..., BrowserContext],
    accessible: Callable[[Page], None],
) -> None:
    lesson = lesson_of("bin-packing")
    assert lesson is not None
    page = new_context(locale=LOCALES[language], reduced_motion="reduce").new_page()
    page.goto(f"{server.url}/lessons/")
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
