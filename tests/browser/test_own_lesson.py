"""A lesson is made in the studio, tried, shared by its link, taken by somebody else, and comes back from its folder."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, start

SLOW = 60_000  # ms: each change plays the lesson in a process of its own
Accessible = Callable[[Page], None]


@pytest.fixture
def author(page: Page, server: PlaygroundServer) -> Page:
    """The authoring page of a lesson that was made of three nodes and four pods."""
    start(page, server, "cluster:small")
    page.goto(re.sub(r"[?#].*", "", page.url) + "session")
    page.get_by_role("button", name="Make a lesson").click()
    page.wait_for_url("**/edit")
    return page


def add_card(page: Page, moment: str, text: str) -> None:
    """A card at a moment, with what it tells."""
    page.get_by_role("button", name=moment, exact=True).click()
    card = page.locator(".lesson-card:target")
    expect(card.get_by_role("heading", name=moment)).to_be_visible()
    card.get_by_label("Text").fill(text)


def test_from_a_session_to_a_link_that_somebody_starts_it_from(
    author: Page, new_context: Callable[..., BrowserContext], accessible: Accessible
) -> None:
    expect(author.get_by_text("Playable to the end")).to_be_visible()
    accessible(author)
    author.get_by_label("Title").fill("Who goes where")
    first = author.locator("#card-begin")
    first.get_by_label("Text").fill("Four pods wait for `three` nodes.")
    first.get_by_label("Question").select_option(label="Which pod is next?")
    expect(first.get_by_text("The engine's answer: web-1")).to_be_visible()
    expect(first.get_by_label("The question")).to_have_value("Which pod is next?")
    expect(author.get_by_label("Title")).to_have_value("Who goes where")
    add_card(author, "The nodes are scored for web-1", "All three can take it.")
    author.get_by_role("button", name=re.compile("^web-1 is scheduled to")).click()
    expect(author.locator(".lesson-card")).to_have_count(3)
    accessible(author)

    author.get_by_role("button", name="Share").click()
    problems = author.locator("#problems")
    expect(problems).to_contain_text("Card 3 Write a text for this card.")
    accessible(author)
    problems.get_by_role("link", name="Card 3").click()
    author.locator(".lesson-card").last.get_by_label("Text").fill("It has a node.")
    author.get_by_role("button", name="Share").click()
    expect(problems).to_have_count(0)
    link = author.get_by_label("Anyone with this link can start the lesson").input_value()

    learner = new_context().new_page()
    learner.goto(link)
    expect(learner.get_by_role("heading", name="Who goes where")).to_be_visible()
    accessible(learner)
    learner.get_by_role("button", name="Start the lesson").click()
    connected(learner)
    lesson = learner.locator("#panel-story")
    expect(lesson).to_contain_text("Four pods wait for three nodes.")
    lesson.get_by_label("web-2").check()
    lesson.get_by_role("button", name="Answer", exact=True).click()
    expect(lesson).to_contain_text("Not web-2.")
    lesson.get_by_role("button", name="Try again").click()
    expect(lesson).to_contain_text("The engine says: web-1.")
    lesson.get_by_role("button", name="Next").click()
    expect(lesson).to_contain_text("All three can take it.")
    lesson.get_by_role("button", name="Next").click()
    expect(lesson).to_contain_text("That is the end of the lesson.")
    accessible(learner)


def test_a_card_is_previewed_as_it_is_typed_and_moved_by_key_and_by_dragging(
    author: Page, accessible: Accessible
) -> None:
    begin = author.locator("#card-begin")
    begin.get_by_label("Text").fill("Four pods wait for `three` nodes.")
    preview = begin.locator(".preview .story")
    expect(preview.locator(".chapter code")).to_have_text("three")
    add_card(author, "The nodes are scored for web-1", "All three can take it.")
    author.locator(".lesson-card:target").get_by_label("Text").press("Alt+ArrowUp")
    cards = author.locator(".lesson-card")
    moved = author.locator("#moved")
    expect(moved).to_have_text("Card moved. Its place is now: 1", timeout=SLOW)
    expect(author.get_by_role("button", name="Move card 1 down")).to_be_focused()
    expect(cards.first.get_by_label("Text")).to_have_value("All three can take it.")
    author.set_viewport_size({"width": 1280, "height": 1400})  # nothing may scroll while the card is dragged
    cards.first.locator("[data-grip]").drag_to(cards.nth(1).get_by_role("heading").first)
    expect(moved).to_have_text("Card moved. Its place is now: 2", timeout=SLOW)
    expect(cards.first).to_have_id("card-begin")
    author.get_by_label("Task").first.select_option(label="Create the pod mine so that it runs on node-2.")
    words = "Create the pod `mine` so that it runs on `node-2`."
    expect(author.locator("#task")).to_have_value(words, timeout=SLOW)
    expect(author.get_by_text("Playable to the end")).to_be_visible()
    expect(cards.last.locator(".preview .task")).to_contain_text("so that it runs on node-2")
    accessible(author)


def test_a_try_shows_what_is_written_and_the_page_stays(author: Page) -> None:
    author.locator("#card-begin").get_by_label("Text").fill("Tried out.")
    with author.expect_popup() as opened:
        author.get_by_role("button", name="Try it as a learner").click()
    connected(opened.value)
    expect(opened.value.locator("#panel-story")).to_contain_text("Tried out.")
    author.reload()
    expect(author.locator("#card-begin").get_by_label("Text")).to_have_value("Tried out.")


def test_a_folder_is_downloaded_mended_as_files_and_opened_again(
    author: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    with author.expect_download() as downloaded:
        author.get_by_role("link", name="Download the folder").click()
    assert downloaded.value.suggested_filename.endswith(".zip")
    author.get_by_role("button", name="Edit the files").click()
    plan = author.get_by_label("lesson.yaml")
    plan.fill(plan.input_value().replace("minutes: 5", "minutes: soon"))
    author.get_by_role("button", name="Save and check").click()
    expect(author.locator("#problems")).to_contain_text("lesson.yaml, line 2")
    accessible(author)
    author.goto(f"{server.url}/lesson/")
    accessible(author)
    author.get_by_label("The lesson's zip or its files").set_input_files(downloaded.value.path())
    author.get_by_role("button", name="Open the lesson").click()
    expect(author.get_by_text("Playable to the end")).to_be_visible()


def test_what_was_written_is_not_left_unasked(author: Page) -> None:
    asked: list[str] = []
    author.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    author.get_by_label("Title").fill("Unsaved")
    author.get_by_role("link", name="Make a lesson").click()
    author.wait_for_url("**/lesson/")
    assert asked == ["beforeunload"]


def test_it_fits_a_phone(author: Page, accessible: Accessible) -> None:
    author.set_viewport_size({"width": 390, "height": 844})
    assert author.evaluate("document.documentElement.scrollWidth") == 390
    accessible(author)
