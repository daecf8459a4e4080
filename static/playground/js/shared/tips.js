// One tooltip for whatever has a name that is not written on it: shown on hover and on focus, hidden by Escape.
import { around, by } from "./dom.js";

const NAMED = ".lane svg a";
const EDGE = 6;

const tip = by("tip");

/**
 * Shows a text near a place on the screen.
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
export function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(EDGE, Math.min(x - box.width / 2, innerWidth - box.width - EDGE))}px`;
  const above = y - box.height - 10;
  tip.style.top = `${above > 4 ? above : y + 18}px`;
}

export function hideTip() {
  tip.hidden = true;
}

/** @param {Event} event */
function show(event) {
  const element = around(event, NAMED);
  if (!element) return;
  const box = element.getBoundingClientRect();
  showTip(element.getAttribute("aria-label") ?? "", box.left + Math.min(box.width / 2, 120), box.top);
}

for (const enter of ["mouseover", "focusin"]) document.addEventListener(enter, show);
for (const leave of ["mouseout", "focusout"]) {
  document.addEventListener(leave, (event) => around(event, NAMED) && hideTip());
}
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
