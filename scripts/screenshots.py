"""Takes pictures of the real product in a real Chromium. `make screenshots` takes those of docs/images; `make states` takes the twelve main
states of the screen, light and dark, at four widths, in both languages, into build/states. (The Chinese ones need a Chinese font.)

Each is a world of its own at a step that is found by what happened there (scripts/pictures), so it can be taken again after any change
of the screen. Names of states as arguments take these alone.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.pictures.session import Session  # noqa: E402
from scripts.pictures.states import MAIN, MORE, State  # noqa: E402
from tests.browser.conftest import CHROMIUM_FLAGS, chromium_path  # noqa: E402
from tests.browser.server import PlaygroundServer  # noqa: E402

IMAGES = ROOT / "docs/images"
STATES = ROOT / "build/states"
SETTLED = 400  # ms: the longest movement, twice
MARKED = 900  # ms: until the rail has its marks, which are fetched a moment after all else
# The tour was offered before, and the link is kept: what a visitor sees from the second minute on.
SETTLED_IN = "localStorage.setItem('tour-offered', '1')"
PUT_AWAY = "document.querySelectorAll('#keep, .notices > p[role=status]:not([id])').forEach((pill) => pill.remove())"


class Shot(NamedTuple):
    """How a state is looked at, and the file's name."""

    file: str
    width: int
    height: int
    scheme: str
    language: str = "en"


def every(state: str) -> list[Shot]:
    """Light and dark, at four widths, in both languages."""
    return [
        Shot(f"{state}-{width}-{scheme}-{language}", width, height, scheme, language)
        for language in ("en", "zh-CN")
        for width, height in ((390, 844), (1280, 720), (1440, 900), (1920, 1080))
        for scheme in ("light", "dark")
    ]


DOCUMENTS = {
    **{
        state: Shot(state, 1280, 720, "light")
        for state in ("queue", "preemption", "controller", "lockstep", "presenter", "palette")
    },
    **{state: Shot(state, 1280, 720, "dark") for state in ("score", "ladder")},
    # The hardest states: a real cluster, many ties, a refusal at Permit.
    "openb": Shot("filter", 1440, 900, "light"),
    "ties": Shot("large", 1280, 720, "dark"),
    "refused": Shot("binding", 1280, 720, "light"),
    "gang": Shot("group", 1280, 720, "light"),
    "door": Shot("kubectl", 1280, 844, "light"),
    "journey": Shot("journey", 1000, 900, "light"),
    "internals": Shot("internals", 1280, 720, "dark"),
    "commands": Shot("commands", 1280, 720, "dark"),
    "compare": Shot("compare", 1280, 900, "light"),
    "exports": Shot("exports", 1280, 900, "light"),
    "authoring": Shot("authoring", 1280, 900, "light"),
    "lesson": Shot("lesson", 1280, 720, "light"),
    "classroom": Shot("classroom", 1440, 900, "light"),
}


def seen(page: Page, state: State, width: int, height: int) -> None:
    """Show a state at a size."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(state.url, wait_until="load")
    if page.locator("#stage").count():
        page.locator("body[data-connected='1']").wait_for()
        page.evaluate(PUT_AWAY)
    for frame in page.locator("iframe").all():
        frame.content_frame.locator("body[data-connected='1']").wait_for()
    state.act(page)
    if page.locator("#flags").count():
        page.wait_for_timeout(MARKED)


def take(browser: Browser, server: str, only: list[str], shots: Mapping[str, list[Shot]], folder: Path) -> None:
    """Make each world once, and take all pictures of a state before its world goes on."""
    for world, names in {**MAIN, **MORE}.items():
        wanted = {name for name in names if name in shots and (not only or name in only)}
        if not wanted:
            continue
        making = browser.new_context()

        def begin(start: str = "empty", name: str = "", **fields: str) -> Session:
            return Session(making, server, start, name, **fields)  # noqa: B023

        for state in world(begin):
            if state.name in wanted:
                for language, group in itertools.groupby(shots[state.name], lambda shot: shot.language):
                    looking = browser.new_context(locale=language)
                    looking.add_init_script(SETTLED_IN)
                    pictures(looking.new_page(), state, group, folder)
                    looking.close()
        making.close()


def pictures(page: Page, state: State, shots: Iterable[Shot], folder: Path) -> None:
    """Take a state's pictures in one language."""
    size = (0, 0)
    for shot in shots:
        if size != (size := (shot.width, shot.height)):
            seen(page, state, *size)
        page.emulate_media(color_scheme="dark" if shot.scheme == "dark" else "light")
        page.wait_for_timeout(SETTLED)
        page.screenshot(path=folder / f"{shot.file}.png")
        print(f"{folder.relative_to(ROOT)}/{shot.file}.png", flush=True)


def main(arguments: list[str]) -> None:
    """Start a server on an empty database, take the pictures, stop it."""
    states = "--states" in arguments
    only = [name for name in arguments if name != "--states"]
    target = STATES if states else IMAGES
    target.mkdir(parents=True, exist_ok=True)
    main_states: Iterator[str] = (name for names in MAIN.values() for name in names)
    shots = {name: every(name) for name in main_states} if states else {k: [v] for k, v in DOCUMENTS.items()}
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder))
        try:
            server.start()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
                take(browser, server.url, only, shots, target)
                browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
