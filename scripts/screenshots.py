"""Takes the screenshots of docs/images from the real product in a real Chromium: `make screenshots`.

Each picture is a story stepped to a telling moment, so it can be taken again after any change of the screen.
"""

import json
import lzma
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import CHROMIUM_FLAGS, chromium_path  # noqa: E402
from tests.browser.server import PlaygroundServer  # noqa: E402
from tests.browser.test_journey import (  # noqa: E402
    NODE,
    POD,
    begun,
    fail_next_binding,
    journey_of,
    step_until,
)
from tests.browser.test_journey import apply as create  # noqa: E402

IMAGES = ROOT / "docs/images"


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other; each waits until the studio has painted the last one's result."""
    place = "document.querySelector('#panel-transport').dataset.position"
    for key in keys:
        before = page.evaluate(place)
        page.keyboard.press(key)
        page.wait_for_function(f"before => {place} !== before", arg=before)
    page.wait_for_timeout(500)


def home(page: Page, url: str) -> None:
    """Where everybody starts."""
    page.goto(url)


def studio(start: str, *keys: str) -> Callable[[Page, str], None]:
    """A session that starts with a story or a cluster, stepped by keys."""

    def scene(page: Page, url: str) -> None:
        page.goto(url)
        page.locator(f"button[value='{start}']").last.click()
        page.wait_for_url("**/s/**")
        page.locator("#keep-close").click()
        page.wait_for_timeout(1000)
        press(page, *keys)

    return scene


def of_server(scene: Callable[[Page, PlaygroundServer], None]) -> Callable[[Page, str], None]:
    """A scene that the browser tests' helpers make; they want to know a server's address."""

    class Known(PlaygroundServer):
        def __init__(self, url: str) -> None:
            self.url = url

    return lambda page, url: scene(page, Known(url))


def openb(page: Page, url: str) -> None:
    """The 1,523 nodes and 8,152 pods of examples/openb, at the draw among the best nodes of a pod."""
    items = []
    for part in ("nodes", "pods"):
        items += json.loads(lzma.decompress((ROOT / f"examples/openb/openb-{part}.json.xz").read_bytes()))[
            "items"
        ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
    page.goto(url)
    page.locator("#import input[name=file]").first.set_input_files(
        {"name": "openb.json", "mimeType": "application/json", "buffer": text}
    )
    page.get_by_role("button", name="Preview the import").click()
    page.locator("form[action$='import/apply'] button").first.click()
    page.locator("body[data-connected='1']").wait_for(timeout=60_000)
    page.locator("#keep-close").click()
    page.get_by_role("link", name="Score heat").click()
    page.keyboard.press("2")
    press(page, *["n"] * 8)
    while "tie for" not in page.locator(".sentence").inner_text():
        press(page, "ArrowRight")
    page.wait_for_timeout(1500)


def busy(page: Page, server: PlaygroundServer) -> None:
    """A small cluster where one pod has no room, another's binding fails, and a larger node comes."""
    nodes = [NODE.format(name=name, cpu=cpu) for name, cpu in (("small-1", 2), ("small-2", 2), ("mid", 4))]
    pods = [
        POD.format(name=name, cpu=cpu) for name, cpu in (("web-1", 1), ("big", 6), ("web-2", 1), ("web-3", 1))
    ]
    begun(page, server, *nodes, *pods)
    page.locator("#keep-close").click()
    fail_next_binding(page, "default/web-3")
    step_until(page, "#queue-unschedulable", "big", key="Shift+ArrowRight")
    step_until(page, "#queue-flight", "web-3")
    create(page, NODE.format(name="large", cpu=16))


def journey(page: Page, server: PlaygroundServer) -> None:
    """The page of the pod whose binding failed."""
    busy(page, server)
    step_until(page, "#queue-backoff", "web-3", key="Shift+ArrowRight")
    journey_of(page, "web-3")


def internals(page: Page, server: PlaygroundServer) -> None:
    """Cache and in-flight events beside the lanes."""
    busy(page, server)
    page.locator("#tab-journey").click()
    page.locator("#internals > summary").click()
    page.locator(".state-keys, #cycle-state").first.wait_for()
    page.wait_for_timeout(600)


def left_out(page: Page, server: PlaygroundServer) -> None:
    """What became of the small cluster's history without its larger node."""
    busy(page, server)
    page.keyboard.press("r")
    page.get_by_text("Nothing is left to do").first.wait_for()
    page.keyboard.press("l")
    larger = page.locator(".asked li").filter(has_text="large")
    larger.get_by_role("button", name="Leave this out").click()
    page.get_by_role("link", name="Compare with the original").wait_for()


def commands(page: Page, server: PlaygroundServer) -> None:
    """The list of commands beside the cluster, and the branch without one of them at the timeline."""
    left_out(page, server)
    page.get_by_role("link", name="Open the studio").click()
    page.locator("body[data-connected='1']").wait_for()
    page.keyboard.press("l")
    page.locator(".asked").wait_for()
    page.wait_for_timeout(800)


def comparison(page: Page, server: PlaygroundServer) -> None:
    """The same two histories side by side."""
    left_out(page, server)
    page.get_by_role("link", name="Compare with the original").click()
    page.locator(".charts .main-svg").first.wait_for()
    page.wait_for_timeout(500)


# The third pod of six nodes in three zones: what Filter said, and what the scores are made of.
WHY = studio("cluster:zones", "n", "n", *["Shift+ArrowRight"] * 6)
SPREAD = studio("story:spread-or-pack", "n", "n", "n", *["Shift+ArrowRight"] * 7)
PICTURES = [
    ("home-light", home, 1280, 900, "light"),
    ("studio-light", WHY, 1440, 900, "light"),
    ("studio-dark", SPREAD, 1440, 900, "dark"),
    ("studio-1920", SPREAD, 1920, 1080, "light"),
    ("studio-1280", WHY, 1280, 800, "dark"),
    ("large-dark", openb, 1440, 900, "dark"),
    ("journey", of_server(journey), 1000, 900, "light"),
    ("internals", of_server(internals), 1280, 800, "dark"),
    ("commands", of_server(commands), 1440, 900, "dark"),
    ("compare", of_server(comparison), 1280, 900, "light"),
    ("phone", studio("story:first-placement", *["Shift+ArrowRight"] * 6), 390, 844, "light"),
]


def take(browser: Browser, url: str, only: list[str]) -> None:
    """Take every picture, or those named."""
    for name, scene, width, height, scheme in PICTURES:
        if only and name not in only:
            continue
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        scene(page, url)
        page.screenshot(path=IMAGES / f"{name}.png")
        context.close()
        print(f"docs/images/{name}.png")


def main(only: list[str]) -> None:
    """Start a server on an empty database, take the pictures, stop it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder))
        server.manage("migrate", "--verbosity", "0")
        try:
            server.start()
            with sync_playwright() as playwright:
                take(
                    playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS),
                    server.url,
                    only,
                )
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
