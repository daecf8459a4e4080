// Esc: closes what was opened last over the page, or leaves what has the focus; then the lanes, then the presenter.
import { all, around, by, first, maybe } from "../shared/dom.js";
import { isPresenting, present } from "./presenter.js";

const POPPED = "details:is(.notice, .until, .more-menu)[open]";

/** Closes or leaves one thing. */
export function leave() {
  if (maybe("drawer", HTMLDialogElement)?.open) return; // it closes itself
  const popped = all(POPPED);
  if (popped.length) popped.forEach(closeDetails);
  else if (isField(document.activeElement)) blur();
  else if (!by("lanes").hidden) first("#lanes-open")?.click();
  else if (isPresenting()) present(false);
  else blur();
}

/** What pops up is closed by a click beside it, and by what opens something in it, over which it would hang: the drawer, the tour, a list. */
export function listenBeside() {
  document.addEventListener("pointerdown", ({ target }) => {
    for (const popped of all(POPPED)) {
      if (target instanceof Node && !popped.contains(target)) popped.removeAttribute("open");
    }
  });
  document.addEventListener("click", (event) => {
    around(event, "a[data-drawer], .more-menu button[type=button]")?.closest(POPPED)?.removeAttribute("open");
  });
}

/** @param {HTMLElement} details */
function closeDetails(details) {
  const hadFocus = details.contains(document.activeElement);
  details.removeAttribute("open");
  if (hadFocus) first("summary", details)?.focus();
}

/** @param {Element | null} element */
const isField = (element) => Boolean(element?.matches("input, textarea, select"));

function blur() {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement || focused instanceof SVGElement) focused.blur();
}
