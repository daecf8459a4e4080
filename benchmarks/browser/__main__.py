"""`python -m benchmarks.browser [--only step load …] [--runs 3] [--quick] [--json]`: the goals, what was measured, and what is met."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.browser import loading, memory, running, scrubbing, steps
from benchmarks.browser.rig import SETTINGS, Figure, Rig
from benchmarks.probe import probe
from tests.browser.conftest import CHROMIUM_FLAGS, chromium_path
from tests.browser.server import PlaygroundServer

MEASURES: dict[str, Callable[[Rig], list[Figure]]] = {
    "step": steps.measure,
    "load": loading.measure,
    "memory": memory.measure,
    "run": running.measure,
    "scrub": scrubbing.measure,
}


def main() -> None:
    """Start a server and a browser, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--runs", type=int, default=3, help="how often each figure is taken; told is the median")
    parser.add_argument("--quick", action="store_true", help="small worlds, few steps: whether it works at all")
    parser.add_argument("--json", action="store_true", help="print every figure for machines")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = PlaygroundServer(Path(folder), **SETTINGS)
        server.manage("migrate", "--verbosity", "0")
        server.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
                rig = Rig(server, browser, asked.quick, 1 if asked.quick else asked.runs)
                found = told(rig, asked.only)
        finally:
            server.stop()
    print(json.dumps(found, indent=2) if asked.json else table(found))


def told(rig: Rig, names: Sequence[str]) -> dict[str, Any]:
    """The figures of these measures, with the machine's speed before and after."""
    before = machine()
    figures = []
    for name in names:
        for each in MEASURES[name](rig):
            print(f"{each.name}: {each.value:g} {each.unit} {each.runs}", file=sys.stderr, flush=True)
            figures.append(each.to_json())
    return {"before": before, "after": machine(), "figures": figures}


def machine() -> dict[str, float]:
    return {**probe(), "load": round(os.getloadavg()[0], 1)}


def table(found: dict[str, Any]) -> str:
    """Lines of Markdown."""
    lines = [
        f"Machine before: {found['before']}; after: {found['after']}",
        "",
        "| what | measured | runs | at most | ok |",
        "|---|---|---|---|---|",
    ]
    marks = {True: "yes", False: "no", None: ""}
    for each in found["figures"]:
        runs = ", ".join(f"{run:g}" for run in each["runs"]) if len(each["runs"]) > 1 else ""
        note = f" ({each['note']})" if each["note"] else ""
        most = "" if each["most"] is None else f"{each['most']:g}"
        lines.append(
            f"| {each['name']} | {each['value']:g} {each['unit']}{note} | {runs} | {most} | {marks[each['ok']]} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
