// Buttons that copy what stands in a field, or save it as a file.
import { all, by } from "../shared/dom.js";

/**
 * Makes the buttons in a box work; without this script they stay hidden.
 * @param {HTMLElement} box
 */
export function startCopy(box) {
  if (box.dataset.started) return;
  box.dataset.started = "yes";
  for (const button of all("button[data-copies]", box)) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
  for (const button of all("button[data-saves]", box)) {
    button.hidden = false;
    button.addEventListener("click", () => save(button));
  }
}

/** @param {HTMLElement} button */
function save(button) {
  const field = by(button.dataset.saves ?? "");
  if (!(field instanceof HTMLTextAreaElement)) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([field.value], { type: "text/csv" }));
  link.download = button.dataset.name ?? "";
  link.click();
  URL.revokeObjectURL(link.href);
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
