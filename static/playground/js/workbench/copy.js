// Buttons that copy what stands in a field.
import { all, by } from "../shared/dom.js";

/**
 * Makes the copy buttons in a box work; without this script they stay hidden.
 * @param {HTMLElement} box
 */
export function startCopy(box) {
  if (box.dataset.started) return;
  box.dataset.started = "yes";
  for (const button of all("button[data-copies]", box)) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

/** @param {HTMLElement} button */
async function copy(button) {
  const field = by(button.dataset.copies ?? "");
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = button.dataset.done ?? "";
  } catch {
    // Not allowed here: it is selected, ready for Ctrl+C.
  }
}
