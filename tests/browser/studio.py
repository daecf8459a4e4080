"""What browser tests do in the studio: open one, step, open its menu and its lanes."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.server import PlaygroundServer


def start(page: Page, server: PlaygroundServer, what: str = "story:first-placement") -> Page:
    """A new session's studio, connected; a step is one call, so that tests can count them."""
    page.goto(f"{server.url}/lessons/" if what.startswith("story:") else server.url)
    if not what.startswith("story:"):  # as a lesson, so that steps and texts are those that the tests know
        page.locator("#release").evaluate("choice => choice.value = '1.34.1'")
    page.locator(f'button[name=start][value="{what}"]').first.click()
    expect(page.locator("#panel-transport")).to_be_visible()
    connected(page)
    if page.locator("#grain").is_visible():
        page.locator("#grain").select_option("call")
    return page


def connected(page: Page) -> None:
    """Wait until the page's scripts run and its stream is open."""
    expect(page.locator("body")).to_have_attribute("data-connected", "1")


def step_is(page: Page, number: int) -> None:
    """Wait until the page shows a step."""
    expect(page.locator("#panel-transport")).to_have_attribute("data-position", str(number))


def position(page: Page) -> int:
    return int(page.locator("#panel-transport").get_attribute("data-position") or -1)


def press_until(page: Page, words: str, most: int = 80) -> None:
    """Step until the sentence has these words."""
    smallest = page.locator("#grain").is_visible()  # a phone steps by plugin
    if smallest:
        page.locator("#grain").select_option("call")
    for _ in range(most):
        if words in page.locator(".sentence").inner_text():
            return
        before = position(page)
        page.keyboard.press("ArrowRight")
        if smallest:
            step_is(page, before + 1)
        else:
            expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
    raise AssertionError(f"{words!r} was not told within {most} steps")


def step(page: Page, grain: str) -> None:
    """Press the button that steps, for this grain."""
    page.locator("#grain").select_option(grain)
    page.locator("#step").click()


def run_to_the_end(page: Page) -> int:
    """The head when nothing is left to do."""
    page.locator("#run").click()
    expect(page.locator("#panel-transport")).to_have_attribute("data-idle", "1")
    expect(page.locator("#job")).to_be_hidden()
    return position(page)


def nodes(page: Page) -> Locator:
    """The nodes: a form of every stage."""
    cards = page.locator("#panel-map")
    if not cards.is_visible():
        page.locator("#stage .forms [data-form=nodes]").click()
    expect(cards).to_be_visible()
    return cards


def more(page: Page) -> Locator:
    """The menu of the session's pages, opened."""
    menu = page.locator("#more")
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()
    return menu


def lanes(page: Page) -> Locator:
    """The lanes of the pods, opened over the stage."""
    sheet = page.locator("#lanes")
    if not sheet.is_visible():
        page.locator("#lanes-open").click()
    expect(sheet).to_be_visible()
    return sheet


def shown(page: Page) -> list[str]:
    """What a page tells of its step: queues, stage, sentence, inspector."""
    parts = ("#rail", "#panel-stage", "#panel-map", "#panel-narrator", "#panel-inspector")
    return [page.locator(part).inner_text() for part in parts]


def start_empty(page: Page) -> None:
    """Press the first page's button for an empty cluster; 1.34.1 needs no command, so that the first step is the caller's."""
    page.locator("#release").evaluate("choice => choice.value = '1.34.1'")
    page.get_by_role("button", name="Start with an empty cluster").click()
