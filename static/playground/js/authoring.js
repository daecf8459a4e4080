// The page on which a lesson is made: a chosen question is taken at once, cards change places, and nothing that was written is left
// unsaved unasked. Beside each card stands its preview, which follows what is typed.
import { all, first } from "./shared/dom.js";
import { startCopy } from "./workbench/copy.js";

const PAUSE = 250; // ms after the last key
const MOVED = "moved"; // the card that the last submit moved, in this tab

all("[data-share]").forEach(startCopy);
for (const form of all("form[data-guarded]")) guard(form);
for (const choice of all("select[data-saves]")) {
  choice.addEventListener("change", () => press(`[data-save="${CSS.escape(choice.dataset.saves ?? "")}"]`));
}
for (const card of all(".lesson-card")) {
  startOrder(card);
  startPreview(card);
}

// A new card waits for its words; a moved one keeps the focus, and its new place is read out.
const target = document.getElementById(location.hash.slice(1));
const moved = sessionStorage.getItem(MOVED);
sessionStorage.removeItem(MOVED);
if (moved && target) {
  const usable = all("[data-move]", target).filter((button) => !button.matches(":disabled"));
  setTimeout(() => { // once the page stands at the card, which takes the focus
    (usable.find((button) => button.dataset.move === moved) ?? usable[0])?.focus({ preventScroll: true });
    const status = first("#moved");
    if (status) status.textContent = `${status.dataset.text} ${target.dataset.number}`;
  }, 200);
} else {
  const words = target?.querySelector(".writing > textarea");
  if (words instanceof HTMLTextAreaElement && !words.value) words.focus({ preventScroll: true });
}

/**
 * @param {string} selector
 * @param {ParentNode} within
 */
function press(selector, within = document) {
  const button = within.querySelector(selector);
  if (button instanceof HTMLButtonElement) button.click();
}

/** @param {HTMLElement} form */
function guard(form) {
  let written = false;
  form.addEventListener("input", () => written = true);
  form.addEventListener("submit", () => written = false);
  addEventListener("beforeunload", (event) => {
    if (written) event.preventDefault();
  });
}

/** @param {HTMLElement} card Moves by its arrows, by Alt and an arrow key in it, and by its grip. */
function startOrder(card) {
  card.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-move]") : null;
    if (button instanceof HTMLElement) sessionStorage.setItem(MOVED, button.dataset.move ?? "");
  });
  card.addEventListener("keydown", (event) => {
    if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    press(`[data-move="${event.key === "ArrowUp" ? "up" : "down"}"]`, card);
  });
  const grip = first("[data-grip]", card);
  if (grip === null) return;
  grip.hidden = false;
  grip.addEventListener("dragstart", (event) => {
    event.dataTransfer?.setData("text/plain", card.dataset.card ?? "");
    event.dataTransfer?.setDragImage(card, 12, 12);
    card.classList.add("dragged");
  });
  grip.addEventListener(
    "dragend",
    () => all(".lesson-card").forEach((each) => each.classList.remove("dragged", "over")),
  );
  card.addEventListener("dragover", (event) => {
    const dragged = first(".lesson-card.dragged");
    if (dragged === null) return;
    event.preventDefault();
    card.classList.toggle("over", dragged !== card);
  });
  card.addEventListener("dragleave", () => card.classList.remove("over"));
  card.addEventListener("drop", (event) => {
    const dragged = first(".lesson-card.dragged");
    if (dragged === null || dragged === card) return;
    event.preventDefault();
    const button = dragged.querySelector("[data-move]:not(:disabled)");
    if (!(button instanceof HTMLButtonElement)) return;
    button.value = `${dragged.dataset.card}:${card.dataset.number}`;
    button.click();
  });
}

/** @param {HTMLElement} card Its preview is drawn anew by the server a moment after the last key. */
function startPreview(card) {
  const host = first("[data-preview]", card);
  const shown = host?.shadowRoot?.querySelector("[data-shown]");
  const form = card.closest("form");
  if (!host || !shown || form === null) return;
  let timer = 0;
  let last = 0;
  card.addEventListener("input", (event) => {
    if (event.target instanceof HTMLElement && event.target.dataset.saves) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = ++last;
      const answer = await fetch(host.dataset.preview ?? "", { method: "POST", body: new FormData(form) })
        .catch(() => null);
      const text = answer?.ok ? await answer.text() : null;
      if (text !== null && number === last) shown.innerHTML = text;
    }, PAUSE);
  });
}
