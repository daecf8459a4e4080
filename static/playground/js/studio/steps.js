// The list of steps beside the stage: it shows where the viewer is, and goes along.
import { all, first, maybe } from "../shared/dom.js";
import { openInDrawer } from "../shared/drawer.js";

/**
 * Marks the present step in the list, which is read again where the step is not in it.
 * @param {number} seen
 * @param {number} head
 */
export function showStep(seen, head) {
  const list = maybe("step-list", HTMLElement);
  if (!list?.checkVisibility() || list.dataset.here === `${seen} ${head}`) return;
  list.dataset.here = `${seen} ${head}`;
  const row = mark(seen);
  if (row) return row.scrollIntoView({ block: "nearest" });
  const query = new URLSearchParams(first("#steps-found", list)?.dataset.query);
  query.set("at", String(seen));
  htmx.ajax("GET", `steps?${query}`, {
    target: "#steps-found",
    select: "#steps-found",
    swap: "outerHTML",
    headers: { "X-Drawer": "1" },
  }).then(() => mark(seen)?.scrollIntoView({ block: "nearest" }));
}

/** @param {number} seen */
function mark(seen) {
  all("#step-list [aria-current]").forEach((row) => row.removeAttribute("aria-current"));
  const row = first(`#step-list [data-step="${seen}"]`);
  row?.setAttribute("aria-current", "step");
  return row;
}

/** Opens the list, with the present step in sight. */
export async function openSteps() {
  await openInDrawer("steps");
  await new Promise(requestAnimationFrame);
  first("#step-list [aria-current]")?.scrollIntoView({ block: "center" });
}
