"""Takes pictures of the real product in a real Chromium. `make screenshots` takes those of docs/images; `make states` takes the twelve main
states of the screen, light and dark, at four widths, into build/states.

Each picture is a story or a small cluster stepped to a telling moment, so it can be taken again after any change of the screen. Names of
pictures as arguments take these alone.
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
from tests.browser.test_preemption import begin  # noqa: E402
from tests.playground.preemption_world import objects  # noqa: E402

IMAGES = ROOT / "docs/images"
STATES = ROOT / "build/states"
WIDTHS = {390: 844, 1280: 720, 1440: 900, 1920: 1080}


Picture = tuple[str, Callable[[Page, str], None], int, int, str]


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
        page.locator("#keep-close").evaluate("(button) => button.click()")
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
    page.locator("#keep-close").evaluate("(button) => button.click()")
    press(page, *["n"] * 8)
    while "picked at random" not in page.locator(".sentence").inner_text():
        press(page, "ArrowRight")
    page.wait_for_timeout(1500)


def busy(page: Page, server: PlaygroundServer) -> None:
    """A small cluster where one pod has no room, another's binding fails, and a larger node comes."""
    nodes = [NODE.format(name=name, cpu=cpu) for name, cpu in (("small-1", 2), ("small-2", 2), ("mid", 4))]
    pods = [
        POD.format(name=name, cpu=cpu) for name, cpu in (("web-1", 1), ("big", 6), ("web-2", 1), ("web-3", 1))
    ]
    begun(page, server, *nodes, *pods)
    page.locator("#keep-close").evaluate("(button) => button.click()")
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


def until(start: str, words: str, *more: Callable[[Page], None]) -> Callable[[Page, str], None]:
    """A session that starts with a story or a cluster, stepped until the narrator says so; then what else is done."""

    def scene(page: Page, url: str) -> None:
        studio(start)(page, url)
        for _ in range(400):
            if words in page.locator("#panel-narrator").inner_text():
                break
            press_one(page)
        for act in more:
            act(page)
        page.wait_for_timeout(500)

    return scene


def press_one(page: Page, key: str = "ArrowRight") -> None:
    """One key, until it is painted."""
    place = "document.querySelector('#panel-transport').dataset.position"
    before = page.evaluate(place)
    page.keyboard.press(key)
    page.wait_for_function(f"before => {place} !== before", arg=before, timeout=5000)


def click(selector: str) -> Callable[[Page], None]:
    return lambda page: page.locator(selector).first.click()


def key(name: str) -> Callable[[Page], None]:
    return lambda page: page.keyboard.press(name)


def preemption(page: Page, server: PlaygroundServer) -> None:
    """The theatre of a pod that three nodes could make room for."""
    begin(page, server, *objects())
    page.locator("#keep-close").evaluate("(button) => button.click()")
    page.wait_for_timeout(500)


def lockstep(page: Page, server: PlaygroundServer) -> None:
    """A history beside the same one without its larger node, where they part."""
    left_out(page, server)
    page.get_by_role("link", name="Compare with the original").click()
    page.locator("a[href*='lockstep']").first.click()
    page.locator("iframe").nth(1).wait_for()
    page.wait_for_timeout(4000)


REFUSED = "TaintToleration refuses"
# What somebody should understand who is shown only the picture: name, how to get there.
MAIN: dict[str, Callable[[Page, str], None]] = {
    "home": home,
    "queue": until("story:backoff", "is unschedulable", key("ArrowRight")),
    "filter": until("cluster:zones", REFUSED),
    "why-node": until("cluster:zones", REFUSED, click("#panel-stage [data-node^='infra']")),
    "score": until("story:spread-or-pack", "NodeResourcesFit scores"),
    "preemption": of_server(preemption),
    "binding": until("story:permit-and-bind", "waits on Permit", key("n")),
    "controller": until("story:first-placement", "Kubelet"),
    "large": openb,
    "lockstep": of_server(lockstep),
    "presenter": until("cluster:zones", REFUSED, key("p")),
    "palette": until("cluster:zones", REFUSED, key("Control+k")),
}
SPREAD = studio("story:spread-or-pack", "n", "n", "n", *["Shift+ArrowRight"] * 7)
PICTURES = [
    *((f"stage-{name}", scene, 1440, 900, "light") for name, scene in MAIN.items()),
    ("studio-dark", SPREAD, 1440, 900, "dark"),
    ("journey", of_server(journey), 1000, 900, "light"),
    ("internals", of_server(internals), 1280, 800, "dark"),
    ("commands", of_server(commands), 1440, 900, "dark"),
    ("compare", of_server(comparison), 1280, 900, "light"),
    ("phone", studio("story:first-placement", *["Shift+ArrowRight"] * 6), 390, 844, "light"),
]
EVERY_STATE = [
    (f"{name}-{width}-{scheme}", scene, width, height, scheme)
    for name, scene in MAIN.items()
    for width, height in WIDTHS.items()
    for scheme in ("light", "dark")
]


def take(browser: Browser, url: str, pictures: list[Picture], folder: Path, only: list[str]) -> None:
    """Take every picture, or those named."""
    for name, scene, width, height, scheme in pictures:
        if only and name not in only:
            continue
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        scene(page, url)
        page.screenshot(path=folder / f"{name}.png")
        context.close()
        print(f"{folder.relative_to(ROOT)}/{name}.png", flush=True)


def main(arguments: list[str]) -> None:
    """Start a server on an empty database, take the pictures, stop it."""
    states = "--states" in arguments
    only = [name for name in arguments if name != "--states"]
    target = STATES if states else IMAGES
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder))
        server.manage("migrate", "--verbosity", "0")
        try:
            server.start()
            with sync_playwright() as playwright:
                take(
                    playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS),
                    server.url,
                    EVERY_STATE if states else PICTURES,
                    target,
                    only,
                )
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
