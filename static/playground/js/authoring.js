// The page on which a lesson is made: a chosen question is taken at once, and nothing that was written is left unsaved unasked.
import { all } from "./shared/dom.js";
import { startCopy } from "./workbench/copy.js";

all("[data-share]").forEach(startCopy);
for (const form of all("form[data-guarded]")) guard(form);
for (const choice of all("select[data-saves]")) {
  choice.addEventListener("change", () => {
    const button = document.querySelector(`[data-save="${CSS.escape(choice.dataset.saves ?? "")}"]`);
    if (button instanceof HTMLButtonElement) button.click();
  });
}

// A new card waits for its words.
const words = document.querySelector(".lesson-card:target > textarea");
if (words instanceof HTMLTextAreaElement && !words.value) words.focus({ preventScroll: true });

/** @param {HTMLElement} form */
function guard(form) {
  let written = false;
  form.addEventListener("input", () => written = true);
  form.addEventListener("submit", () => written = false);
  addEventListener("beforeunload", (event) => {
    if (written) event.preventDefault();
  });
}
