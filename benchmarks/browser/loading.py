"""The first paint of a studio that is not in the cache, and the weight of the page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from benchmarks.browser.rig import Figure, Rig, figure, longest_task
from benchmarks.server import Client

SIZES = ((50, 200), (5000, 50_000))
FIRST_PAINT, WEIGHT, LONGEST_TASK = 1000, 300, 200

PAINTED = """() => new Promise((resolve) => {
  const found = () => performance.getEntriesByName("first-contentful-paint")[0];
  const look = () => found() ? resolve(found().startTime) : requestAnimationFrame(look);
  look();
})"""


def measure(rig: Rig) -> list[Figure]:
    told = []
    for nodes, pods in SIZES[:1] if rig.quick else SIZES:
        client, where = rig.session(nodes, pods), f"{nodes:,} nodes, {pods:,} pods"
        with rig.studio(client):
            pass  # the session is in memory by now
        loads = [_load(rig, client) for _ in range(rig.runs)]
        told += [
            figure(f"first paint; {where}", "ms", [paint for paint, _, _ in loads], FIRST_PAINT),
            figure(f"weight without Plotly; {where}", "KB", [kb for _, kb, _ in loads], WEIGHT),
            figure(f"longest task of the load; {where}", "ms", [task for _, _, task in loads], LONGEST_TASK),
        ]
    return told


def _load(rig: Rig, client: Client) -> tuple[float, float, float]:
    """Milliseconds to the first paint, KB that were sent (compressed, with their heads), and the longest task."""
    with rig.page() as page:
        sent = _count(page)
        rig.open(page, client)
        paint = float(page.evaluate(PAINTED))
        task = longest_task(page)
        kb = sum(size for url, size in sent.values() if "plotly.min.js" not in url) / 1000
    return paint, kb, task


def _count(page: Page) -> dict[str, tuple[str, float]]:
    """Request -> (URL, bytes on the wire), filled while the page loads."""
    sent: dict[str, tuple[str, float]] = {}

    def begun(event: dict[str, Any]) -> None:
        sent[event["requestId"]] = (event["request"]["url"], 0)

    def ended(event: dict[str, Any]) -> None:
        url, _ = sent.get(event["requestId"], ("", 0))
        sent[event["requestId"]] = (url, event["encodedDataLength"])

    devtools = page.context.new_cdp_session(page)
    devtools.on("Network.requestWillBeSent", begun)
    devtools.on("Network.loadingFinished", ended)
    devtools.send("Network.enable")
    return sent
