// Figures: the ends of a line can be dragged, and a page around learns the height.
import { postHeight } from "./shared/height.js";

/** @param {PointerEvent} event */
function drag(event) {
  const { target } = event;
  if (!(target instanceof SVGElement) || !target.dataset.drags) return;
  const input = document.getElementById(target.dataset.drags);
  const plot = target.closest(".plot");
  if (!(input instanceof HTMLInputElement) || !plot) return;
  event.preventDefault();
  const { top, height } = plot.getBoundingClientRect();
  /** @param {PointerEvent} moved */
  const move = (moved) => {
    const up = 1.1 * (0.87 - (moved.clientY - top) / height) / 0.82; // as pictures.py scales it
    const value = String(Math.round(Math.min(Math.max(up, 0), 1) * Number(input.max)));
    if (value === input.value) return;
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", () => removeEventListener("pointermove", move), { once: true });
}

document.addEventListener("pointerdown", drag);
postHeight();
