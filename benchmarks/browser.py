"""How long from a click to the painted result? `python -m benchmarks.browser` measures it in a real Chromium.

The clock starts with the click's own time stamp. It stops in the first task behind the animation frame that shows another step: by
then the frame has been laid out and painted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.openb import openb_objects
from benchmarks.probe import probe
from tests.browser.conftest import CHROMIUM_FLAGS, chromium_path
from tests.browser.server import PlaygroundServer
from tests.playground.sessions.worlds import node, pod

CLICKS = 120
WARM_UP = 10

# Fulfils window.painted with the milliseconds from the next click to the frame that shows its result.
LISTEN = """() => {
  window.painted = new Promise((resolve) => {
    addEventListener("click", (event) => {
      const place = () => document.querySelector("#panel-transport").dataset.position;
      const before = place();
      const watch = new MutationObserver(() => {
        if (place() === before) return;
        watch.disconnect();
        requestAnimationFrame(() => {
          const painted = new MessageChannel();
          painted.port1.onmessage = () => resolve(performance.now() - event.timeStamp);
          painted.port2.postMessage(0);
        });
      });
      watch.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-position"] });
    }, { capture: true, once: true });
  });
}"""

GOALS = {"50 nodes": {"step": 50, "back": 100}, "1,523 nodes": {"step": 100, "back": 1000}}


def click(page: Page, selector: str) -> float:
    """Milliseconds from a click to its painted result."""
    page.evaluate(LISTEN)
    page.locator(selector).first.click()
    return float(page.evaluate("() => window.painted"))


def studio(page: Page, server: PlaygroundServer, objects: list[Any]) -> None:
    """A session with these objects, open in the studio."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
    page.goto(server.url)
    page.locator("#import input[name=file]").first.set_input_files(
        {"name": "cluster.json", "mimeType": "application/json", "buffer": text}
    )
    page.get_by_role("button", name="Preview the import").click()
    page.locator("form[action$='import/apply'] button").first.click()
    page.locator("body[data-connected='1']").wait_for(timeout=60_000)
    page.locator("#keep-close").click()


def measure(page: Page) -> dict[str, dict[str, float]]:
    """Steps by plugin, then as many back."""
    step, back = "button[data-act=plugin]", "button[data-act=back]"
    for _ in range(WARM_UP):
        click(page, step)
    forward = [click(page, step) for _ in range(CLICKS)]
    return {"step": summary(forward), "back": summary([click(page, back) for _ in range(CLICKS)])}


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "n": len(ordered),
        "p50_ms": round(statistics.median(ordered), 1),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1),
        "max_ms": round(ordered[-1], 1),
    }


def main() -> None:
    """Start a server and a browser, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print every figure for machines")
    as_json = parser.parse_args().json
    small = [node(f"n{i}") for i in range(50)] + [pod(f"p{i}") for i in range(200)]
    clusters = {"50 nodes": small, "1,523 nodes": openb_objects()}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder), WEBSOCKET_RATE="1000")
        server.manage("migrate", "--verbosity", "0")
        server.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
                for name, objects in clusters.items():
                    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                    studio(page, server, objects)
                    found[name] = measure(page)
                    page.close()
        finally:
            server.stop()
    found["machine"] = probe()
    print(json.dumps(found, indent=2) if as_json else table(found))


def table(found: dict[str, Any]) -> str:
    """The figures beside what they may be at most, as lines of Markdown."""
    lines = [
        f"Machine: {found['machine']}",
        "",
        "| click | n | p50 ms | p95 ms | max ms | p95 at most |",
        "|---|---|---|---|---|---|",
    ]
    for name, goals in GOALS.items():
        for what, most in goals.items():
            one = found[name][what]
            missed = " (missed)" if one["p95_ms"] > most else ""
            lines.append(
                f"| {what}, {name} | {one['n']} | {one['p50_ms']} | {one['p95_ms']} | {one['max_ms']} | {most}{missed} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
