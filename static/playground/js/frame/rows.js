// The rows of the stage, whatever it shows: j and k move among them, Enter selects, `a` acts on the one in focus or chosen.
import { all, first } from "../shared/dom.js";

const CHOOSES = "[data-node], [data-pod], [data-claim], [data-controller], [data-row]";
const ROW = "tr, li, [role=row], [data-row], .node";
const FOCUSABLE = "a[href], button, [tabindex]";

/** The first thing to focus of each row that the stage shows now, in its order. */
function rows() {
  /** @type {Map<Element, HTMLElement>} */
  const found = new Map();
  for (const choice of all(CHOOSES, first("#stage") ?? document)) {
    const row = choice.closest(ROW) ?? choice;
    const target = choice.matches(FOCUSABLE) ? choice : first(FOCUSABLE, choice);
    if (target && !found.has(row) && target.offsetParent && !target.closest("#lanes")) found.set(row, target);
  }
  return [...found.values()];
}

/**
 * Focuses the next row, or the one before; at first the chosen one. False where the stage has none.
 * @param {number} by 1 or -1
 */
export function moveRow(by) {
  const all = rows();
  if (!all.length) return false;
  const here = all.findIndex((target) => rowOf(target)?.contains(document.activeElement));
  const chosen = all.findIndex((target) => isChosen(rowOf(target)));
  const next = here >= 0 ? here + by : Math.max(0, chosen);
  const target = all[Math.max(0, Math.min(all.length - 1, next))];
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
  return true;
}

/** What an action is about: what has the focus, or else what is chosen on the stage, or in the rail. */
export function selection() {
  const focused = document.activeElement;
  if (focused?.closest("#stage, #rail, #points, #narrator") && focused.id !== "stage") return focused;
  const chosen = rows().find((target) => isChosen(rowOf(target)));
  return chosen ?? first("#rail .pod.chosen a") ?? first("#rail .pod a");
}

/** @param {Element} target */
const rowOf = (target) => target.closest(ROW) ?? target;

/** @param {Element | null} row */
const isChosen = (row) =>
  Boolean(row?.matches(".chosen, .selected, [aria-current], [aria-selected=true]")) ||
  Boolean(row?.querySelector("[aria-current]"));
