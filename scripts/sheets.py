"""Takes every page that a person sees at four widths, light and dark, in both languages, and lays them out on contact sheets.

`.venv/bin/python scripts/sheets.py [page ...]` writes build/sheets/PAGE-LANGUAGE.png: a cluster with names of EKS, a pod that no
node fits, and a placed one. A page that is wider than its window is named at the end.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.pictures import worlds  # noqa: E402
from scripts.pictures.session import Session  # noqa: E402
from scripts.screenshots import PUT_AWAY, SETTLED_IN  # noqa: E402
from tests.browser.conftest import CHROMIUM_FLAGS, chromium_path  # noqa: E402
from tests.browser.server import PlaygroundServer  # noqa: E402

SHEETS = ROOT / "build/sheets"
SIZES = (
    (390, 844, "light"),
    (390, 844, "dark"),
    (1280, 720, "light"),
    (1280, 720, "dark"),
    (1440, 900, "light"),
    (1920, 1080, "light"),
)
TALLEST = 1500  # what is below is cut off
SCALE = 0.5
ROOMS = {
    "home": "",
    "lessons": "lessons/",
    "documents": "lessons/documents/",
    "story": "l/taints/",
    "figures": "figures/",
    "releases": "releases",
}
ROOMS |= {
    "conformance": "conformance",
    "terms": "terms",
    "own-lessons": "lesson/",
    "assign": "assign",
    "join": "join/",
    "missing": "no-such-page",
}
NODES = tuple(f"ip-10-0-{row}-{at}.eu-west-1.compute.internal" for row in (1, 2) for at in range(20, 26))
PODS = tuple(f"checkout-7d4f9c6b5d-{end}" for end in ("x7k2m", "n4kx1", "0a1b2", "9zq2c", "lm3nd", "p0p1e"))
PLACED, PENDING = f"default/{PODS[4]}", f"default/{PODS[5]}"
PAGES = {
    "why": f"why?pod={PENDING}", "fixes": f"fixes?pod={PENDING}", "journey": f"journey/{PENDING}",
    "sequence": f"sequence?pod={PENDING}", "cycle-state": f"cycle-state?pod={PLACED}", "problems": "problems",
    "cluster": "cluster", "cluster-nodes": "cluster?part=nodes", "budgets": "cluster?part=budgets",
    "rollouts": "cluster?part=rollouts", "replicas": "cluster?part=replicas", "devices": "cluster?part=devices",
    "capacity": "capacity", "capacity-go": "capacity?part=go", "experiments": "experiments", "metrics": "metrics",
    "statistics": "statistics", "timeline": "timeline", "breakpoints": "breakpoints", "steps": "steps",
    "upgrade": "upgrade?release=1.34", "records": "records", "diff": "diff", "branches": "branches",
    "commands": "commands", "exports": "exports", "session": "session", "build": "build/", "objects": "objects",
    "yaml": f"yaml?kind=Node&name={NODES[0]}", "configuration": "configuration",
    "plugins": "plugins", "components": "components", "extenders": "extenders",
    "calls": f"calls?pod={PENDING}", "drain": f"act/drain?kind=Node&name={NODES[0]}",
    "taint": f"act/taint?kind=Node&name={NODES[0]}", "second-opinion": "second-opinion", "end": "",
    "placed": f"?stage=placed&pod={PLACED}", "pending": f"?stage=pending&pod={PENDING}",
    "fix": f"?pod={PENDING}&tab=fix&about=pod", "node": f"?node={NODES[0]}&about=node", "queue": "?stage=queue",
    "bind": "?stage=binding",
}  # fmt: skip


def make(context: BrowserContext, server: str) -> Iterator[tuple[str, str]]:
    """A cluster with long names, run to its end; each page of it, and the pages without a session."""
    session = Session(context, server, "empty", "eks-prod-eu-west-1-blue")
    nodes = [worlds.node("x-a", "4", "16Gi", worlds.INFRA if at in (1, 5) else None) for at in range(len(NODES))]
    for node, name in zip(nodes, NODES, strict=True):
        node["metadata"]["name"] = node["metadata"]["labels"]["kubernetes.io/hostname"] = name
    running = [worlds.pod(f"logging-agent-{at:05d}", "3", "2Gi", on=name) for at, name in enumerate(NODES[:-1])]
    session.apply(*nodes, *running, worlds.pod(PODS[4], "2", "2Gi"), worlds.pod(PODS[5], "7", "2Gi"))
    session.run()
    twin = session.fork("fork with another weight")
    yield from ((name, f"{server}/{path}") for name, path in ROOMS.items())
    yield from ((name, f"{session.url}{path}") for name, path in PAGES.items())
    yield "compare", session.at("compare", **{"with": twin.url})
    yield "lockstep", session.at("lockstep", **{"with": twin.url})
    yield "lesson", Session(context, server, "story:taints").url


def take(page: Page, url: str) -> tuple[list[bytes], list[int]]:
    """The pictures of a page at all sizes, and the widths at which it is wider than the window."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(url, wait_until="load")
    page.wait_for_timeout(700)
    page.evaluate(PUT_AWAY)
    pictures, wide = [], []
    for width, height, scheme in SIZES:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(250)
        tall = min(max(page.evaluate("document.documentElement.scrollHeight"), height), TALLEST)
        pictures.append(page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": tall}))
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(width)
    return pictures, wide


def lay_out(browser: Browser, pictures: list[bytes], file: Path) -> None:
    """One sheet of these pictures, side by side."""
    marks = (
        f'<img style="zoom:{SCALE}" src="data:image/png;base64,{base64.b64encode(one).decode()}">' for one in pictures
    )
    sheet = browser.new_page(viewport={"width": 2000, "height": 400})
    sheet.set_content(
        f'<body style="margin:4px;background:#864;display:flex;flex-wrap:wrap;gap:6px;align-items:start">{"".join(marks)}'
    )
    sheet.screenshot(path=file, full_page=True)
    sheet.close()


def main(only: list[str]) -> None:
    """Start a server on an empty database, take all pages, stop it."""
    SHEETS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, browser = (
            PlaygroundServer(Path(folder)),
            playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS),
        )
        try:
            server.start()
            making = browser.new_context()
            pages = [(name, url) for name, url in make(making, server.url) if not only or name in only]
            for language in ("en", "zh-CN"):
                looking = browser.new_context(locale=language)
                looking.add_init_script(SETTLED_IN)
                for name, url in pages:
                    pictures, wide = take(looking.new_page(), url)
                    lay_out(browser, pictures, SHEETS / f"{name}-{language}.png")
                    print(f"{name}-{language}.png", f"wider than {wide}" if wide else "", flush=True)
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
