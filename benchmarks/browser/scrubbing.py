"""Frames while the rail is dragged to and fro over the past of 5,000 nodes, which are drawn on the canvas."""

from __future__ import annotations

from benchmarks.browser.rig import Figure, Rig, at_percent, figure, longest_task
from benchmarks.browser.steps import click

NODES, PODS = 5000, 50_000
MEDIAN, P95 = 17, 34  # one frame, and one that was missed, at 60 a second
LONGEST_TASK = 200

# Drags for so many frames, a little further at each; the milliseconds between them.
DRAG = """(frames) => new Promise((resolve) => {
  const rail = document.querySelector("#scrub");
  const times = [];
  let last = 0;
  const drag = (now) => {
    if (last) times.push(now - last);
    last = now;
    if (times.length >= frames) {
      rail.dispatchEvent(new PointerEvent("pointerup"));
      rail.dispatchEvent(new Event("change", { bubbles: true }));
      resolve(times);
      return;
    }
    const part = (1 + Math.cos(times.length / 40)) / 2;
    rail.value = String(Math.round(part * Number(rail.max)));
    rail.dispatchEvent(new Event("input", { bubbles: true }));
    requestAnimationFrame(drag);
  };
  rail.dispatchEvent(new PointerEvent("pointerdown"));
  requestAnimationFrame(drag);
})"""


def measure(rig: Rig) -> list[Figure]:
    nodes, pods = (60, 20) if rig.quick else (NODES, PODS)
    with rig.studio(rig.session(nodes, pods), "?form=nodes") as page:
        page.locator("#grain").select_option("pod")
        for _ in range(2 if rig.quick else 40):
            click(page, "#step")
        page.evaluate("() => { window.tasks.length = 0 }")
        runs = [page.evaluate(DRAG, 20 if rig.quick else 600) for _ in range(rig.runs)]
        task = longest_task(page)
    where = f"{nodes:,} nodes"
    goals = (None, None, None) if rig.quick else (MEDIAN, P95, LONGEST_TASK)
    return [
        figure(f"scrubbing, median frame; {where}", "ms", [at_percent(run, 50) for run in runs], goals[0]),
        figure(f"scrubbing, p95 frame; {where}", "ms", [at_percent(run, 95) for run in runs], goals[1]),
        figure(f"scrubbing, longest task; {where}", "ms", [task], goals[2]),
    ]
