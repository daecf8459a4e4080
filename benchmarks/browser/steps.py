"""From a click to the painted result, on and back.

The clock starts with the click's own time stamp. It stops in the first task behind the animation frame that shows another step: by then
the frame has been laid out and painted.
"""

from __future__ import annotations

from playwright.sync_api import Page

from benchmarks.browser.rig import Figure, Rig, at_percent, figure, longest_task, processor_ms, spent
from benchmarks.server import Client

SIZES = ((50, 200, 50, 120), (5000, 50_000, 100, 40))  # nodes, pods, milliseconds at most, clicks
LONGEST_TASK = 200
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


def measure(rig: Rig) -> list[Figure]:
    sizes = SIZES[:1] if rig.quick else SIZES
    return [each for size in sizes for each in _of_size(rig, *size)]


def _of_size(rig: Rig, nodes: int, pods: int, most: int, clicks: int) -> list[Figure]:
    client, where = rig.session(nodes, pods), f"{nodes:,} nodes, {pods:,} pods"
    clicks = 5 if rig.quick else clicks
    with rig.studio(client) as page:
        for _ in range(WARM_UP):
            click(page, "#step")
        # Who looks at a world of 5,000 nodes looks at a past, too: some pods are placed already.
        _place(rig, page, client)
        found = [_run(rig, page, clicks) for _ in range(rig.runs)]
        longest = longest_task(page)
    told = []
    for i, act in enumerate(("step", "back")):
        runs = [run[i] for run in found]
        p50 = figure("", "ms", [at_percent(times, 50) for times, _, _ in runs]).value
        told += [
            figure(f"{act}, p95; {where}", "ms", [at_percent(t, 95) for t, _, _ in runs], most, f"p50 {p50}"),
            figure(f"{act}, page’s thread; {where}", "ms CPU", [busy for _, busy, _ in runs]),
            figure(f"{act}, server and worker; {where}", "ms CPU", [cpu for _, _, cpu in runs]),
        ]
    return [*told, figure(f"longest task; {where}", "ms", [longest], LONGEST_TASK)]


def _place(rig: Rig, page: Page, client: Client) -> None:
    page.locator("#grain").select_option("pod")
    for _ in range(1 if rig.quick else 20):
        click(page, "#step")
    page.locator("#grain").select_option("call")
    click(page, "#step")


def _run(rig: Rig, page: Page, clicks: int) -> list[tuple[list[float], float, float]]:
    return [_clicks(rig, page, selector, clicks) for selector in ("#step", "button[data-act=back]")]


def _clicks(rig: Rig, page: Page, selector: str, clicks: int) -> tuple[list[float], float, float]:
    """Milliseconds of each; what the page's thread and the server's processes worked for one."""
    assert rig.server.process is not None
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    worked, used = spent(devtools), processor_ms(rig.server.process.pid)
    times = [click(page, selector) for _ in range(clicks)]
    worked, used = spent(devtools) - worked, processor_ms(rig.server.process.pid) - used
    devtools.detach()
    return times, worked / clicks, used / clicks


def click(page: Page, selector: str) -> float:
    """Milliseconds from a click to its painted result."""
    page.evaluate(LISTEN)
    page.locator(selector).first.click()
    return float(page.evaluate("() => window.painted"))
