// On narrow screens the narrator, the queues and the timeline share a sheet below the stage, with three heights: grip, half and full.
import { all, around, first } from "../shared/dom.js";

const HEIGHTS = ["grip", "half", "full"];
const A_DRAG = 24; // pixels

const height = () => HEIGHTS.indexOf(document.body.dataset.sheet ?? "half");

/** @param {number} i */
function setHeight(i) {
  document.body.dataset.sheet = HEIGHTS[Math.max(0, Math.min(HEIGHTS.length - 1, i))];
}

/** @param {string} pane */
export function showPane(pane) {
  document.body.dataset.pane = pane;
  for (const button of all("[data-pane-of]")) {
    button.setAttribute("aria-pressed", String(button.dataset.paneOf === pane));
  }
  if (height() === 0) setHeight(1);
}

/** Listens to the sheet's tabs and its grip: a press or an arrow key for the next height, a drag up or down. */
export function listenSheet() {
  const handle = first(".sheet-handle");
  if (!handle) return;
  let from = 0;
  let dragged = false;
  handle.addEventListener("pointerdown", ({ clientY }) => {
    from = clientY;
    dragged = false;
  });
  addEventListener("pointerup", ({ clientY }) => {
    dragged = from > 0 && Math.abs(clientY - from) > A_DRAG;
    if (dragged) setHeight(height() + (clientY < from ? 1 : -1));
    from = 0;
  });
  handle.addEventListener("click", (event) => {
    if (dragged) return;
    const pane = around(event, "[data-pane-of]")?.dataset.paneOf;
    if (pane) showPane(pane);
    else if (around(event, "#sheet-grip")) setHeight((height() + 1) % HEIGHTS.length);
  });
  handle.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by) return;
    setHeight(height() + by);
    event.preventDefault();
  });
}
