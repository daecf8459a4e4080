// Buttons that copy a link out of its field.
import { all, the } from "../shared/dom.js";

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
  const field = the(button.dataset.copies ?? "", HTMLInputElement);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = button.dataset.done ?? "";
  } catch {
    // Not allowed here: the link is selected, ready for Ctrl+C.
  }
}
