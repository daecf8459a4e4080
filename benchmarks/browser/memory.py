"""What the page keeps after many steps: JavaScript's heap, listeners, and nodes that no document has, each after a collection.

Nodes of the document are told apart from these: a card shows the pods that its node has got meanwhile.
"""

from __future__ import annotations

from playwright.sync_api import CDPSession, Page

from benchmarks.browser.rig import Figure, Rig, figure

STEPS, PODS = 10_000, 450
MOST_GROWTH = 10  # percent, from a tenth of the steps on
KEPT = {"JSHeapUsedSize": "heap", "JSEventListeners": "listeners"}
SHOWN, LEFT = "nodes of the document", "nodes outside of it"

# All nodes that the document shows.
COUNT = """() => {
  let count = 0;
  for (const walk = document.createTreeWalker(document); walk.nextNode();) count++;
  return count;
}"""

# Presses the button that steps so often, each time when the page shows the step before.
PRESS = """async (times) => {
  const place = () => document.querySelector("#panel-transport").dataset.position;
  for (let i = 0; i < times; i++) {
    const before = place();
    document.querySelector("#step").click();
    const since = performance.now();
    while (place() === before && performance.now() - since < 30000) await new Promise(requestAnimationFrame);
  }
  return Number(place());
}"""
CHUNK = 200


def measure(rig: Rig) -> list[Figure]:
    steps = 40 if rig.quick else STEPS
    with rig.studio(rig.session(50, 20 if rig.quick else PODS)) as page:
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")
        _press(page, steps // 10)
        before = _kept(page, devtools)
        _press(page, steps - steps // 10)
        after = _kept(page, devtools)
    return [
        figure(
            f"growth of {name} from step {steps // 10:,} to {steps:,}",
            "%",
            [100 * (after[name] / before[name] - 1)],
            None if rig.quick or name == SHOWN else MOST_GROWTH,
            f"{before[name]:,.0f} to {after[name]:,.0f}",
        )
        for name in before
    ]


def _press(page: Page, times: int) -> None:
    for done in range(0, times, CHUNK):
        page.evaluate(PRESS, min(CHUNK, times - done))


def _kept(page: Page, devtools: CDPSession) -> dict[str, float]:
    for _ in range(2):  # what the first one finalizes, the second one takes
        devtools.send("HeapProfiler.collectGarbage")
    found = {each["name"]: float(each["value"]) for each in devtools.send("Performance.getMetrics")["metrics"]}
    shown = float(page.evaluate(COUNT))
    return {**{KEPT[name]: found[name] for name in KEPT}, SHOWN: shown, LEFT: found["Nodes"] - shown}
