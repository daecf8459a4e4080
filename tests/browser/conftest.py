"""A real server and a real Chromium. Every browser test fails if its page logged an error that the test did not expect."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.browser.legible import LEAST, SMALL
from tests.browser.server import PlaygroundServer

CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium asks home at every start unless it is told not to; tests need no network.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
expect.set_options(timeout=10_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is a browser test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def chromium_path() -> str:
    """The Chromium to use: CHROMIUM, or the first one on PATH. None is a failure, never a skip."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    assert found, "no Chromium: install Debian's package chromium, or set CHROMIUM to one"
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for each test module: Playwright's loop must be gone before other modules run theirs."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), headless=True, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """A running server, shared by all tests that take it as they find it; visitors and sessions are a test's own."""
    yield from running_server(tmp_path_factory.mktemp("server"))


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[PlaygroundServer]:
    """A running server of the test's own: one that it may kill and start again."""
    yield from running_server(tmp_path)


def running_server(folder: Path, **environment: str) -> Iterator[PlaygroundServer]:
    """Start a server on data in `folder`, with settings; end it afterwards, whatever happened."""
    server = PlaygroundServer(folder, **environment)
    try:
        server.start()
        yield server
    finally:
        server.stop()


class Complaints:
    """What the pages of a test complained about: console errors and uncaught exceptions. `forgive` names expected ones."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.forgiven: list[str] = []

    def listen(self, page: Page) -> None:
        """Hear what `page` complains about from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.heard.append(f"uncaught: {error}"))

    def forgive(self, part: str) -> None:
        """Complaints that contain `part` are expected by this test."""
        self.forgiven.append(part)

    def left(self) -> list[str]:
        """The complaints that nobody expected."""
        return [text for text in self.heard if not any(part in text for part in self.forgiven)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.heard.append(f"{message.text} ({message.location.get('url', '')})")


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """The complaints of the test's pages; the test fails at its end if unexpected ones are left."""
    complaints = Complaints()
    yield complaints
    assert complaints.left() == []


@pytest.fixture
def new_context(browser: Browser, complaints: Complaints) -> Iterator[Callable[..., BrowserContext]]:
    """Makes visitors: each context has its own cookies. Arguments are Playwright's (viewport, color_scheme ...)."""
    contexts: list[BrowserContext] = []

    def make(**options: object) -> BrowserContext:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.on("page", complaints.listen)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_context: Callable[..., BrowserContext]) -> Page:
    """One visitor's tab."""
    return new_context().new_page()


# What the contrast of a page's texts depends on: their colors, sizes, and weights, and the backgrounds and opacities behind them.
COLORED = """() => {
  const behind = new Map([[null, ""]]);
  const paint = (element) => {
    if (!behind.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const clear = [backgroundColor, backgroundImage, opacity].join() === "rgba(0, 0, 0, 0),none,1";
      const below = paint(element.parentElement);
      const shines = opacity < 1 || backgroundImage !== "none" || !/^rgb\\(/.test(backgroundColor);
      behind.set(element, clear ? below : [shines ? below : "", backgroundColor, backgroundImage, opacity].join(" "));
    }
    return behind.get(element);
  };
  return [...new Set([...document.body.querySelectorAll("*")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((element) => {
      const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
      return [color, element.ownerSVGElement && fill, fontSize, fontWeight, paint(element)].join(" ");
    }))];
}"""
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.fixture
def accessible(looked_at: set[str]) -> Callable[[Page], None]:
    """Asserts that axe finds nothing wrong with a page as it stands, and that no text of it is small.

    Contrast takes axe longer than all its other rules. It is not measured again (but by make test-long) where a page has no text of a
    color on a background that was not on a page before.
    """

    def check(page: Page) -> None:
        kinds = set(page.evaluate(COLORED))
        measured = THOROUGH or not kinds <= looked_at
        rules = {"color-contrast": {"enabled": measured}}
        # To read sheets, axe would write style elements into shadow trees, which the policy of the pages refuses.
        options = {"resultTypes": ["violations"], "rules": rules, "preload": {"assets": ["media"]}}
        results = Axe().run(page, options=options)
        assert results.violations_count == 0, results.generate_report()
        assert page.evaluate(SMALL, LEAST) == []
        looked_at.update(kinds)

    return check


@pytest.fixture(scope="session")
def looked_at() -> set[str]:
    """The kinds of texts whose contrast was measured."""
    return set()
