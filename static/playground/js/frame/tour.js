// The tour: a card that points at one part of the studio after the other. The studio goes on working under it.
import { all, by, first, the } from "../shared/dom.js";
import { showPane } from "./sheet.js";

const OFFERED = "tour-offered";
const EDGE = 12;

/** @typedef {{at: string, title: string, words: string}} Stop */

const card = by("tour");
let here = 0;
/** @type {Element | null} */
let before = null;

/** @returns {Stop[]} The stops whose part the page has. */
function stops() {
  return all("li", the("tour-stops", HTMLTemplateElement).content)
    .map(({ dataset: { at = "", title = "" }, textContent }) => ({
      at,
      title,
      words: (textContent ?? "").trim(),
    }))
    .filter(({ at }) => first(at));
}

/** Begins at the first stop. */
export function startTour() {
  before = document.activeElement;
  by("tour-offer").hidden = true;
  document.body.removeAttribute("data-folded");
  card.hidden = false;
  show(0);
}

function end() {
  card.hidden = true;
  unmark();
  if (before instanceof HTMLElement && before.isConnected) before.focus();
}

function unmark() {
  all(".toured").forEach((part) => part.classList.remove("toured"));
}

/** @param {number} i */
function show(i) {
  const all = stops();
  if (i >= all.length) return end();
  here = Math.max(0, i);
  const { at, title, words } = all[here];
  by("tour-title").textContent = title;
  by("tour-says").textContent = words;
  by("tour-count").textContent = `${here + 1} / ${all.length}`;
  by("tour-back").hidden = here === 0;
  const next = by("tour-next");
  next.textContent = (here === all.length - 1 ? next.dataset.end : next.dataset.next) ?? "";
  point(at);
  next.focus({ preventScroll: true });
}

/**
 * Marks a part and puts the card beside it.
 * @param {string} at
 */
function point(at) {
  unmark();
  const part = first(at);
  if (!part) return;
  const pane = part.closest("#rail, #timeline, #narrator")?.id;
  if (pane) showPane(pane);
  part.classList.add("toured");
  const box = part.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const [right, left, below] = [box.right + EDGE, box.left - width - EDGE, box.bottom + EDGE];
  const beside = right + width < innerWidth ? right : left > 0 ? left : null;
  const inside = box.left + (box.width - width) / 2;
  const fits = below + height < innerHeight;
  const x = fits || beside === null ? inside : beside;
  const y = fits ? below : beside === null ? box.top - height - EDGE : box.top + EDGE;
  card.style.left = `${clamp(x, innerWidth - width)}px`;
  card.style.top = `${clamp(y < 0 ? box.bottom - height - EDGE : y, innerHeight - height)}px`;
}

/**
 * @param {number} value
 * @param {number} most
 */
const clamp = (value, most) => Math.round(Math.max(EDGE, Math.min(value, most - EDGE)));

/** Offers the tour to who has not been offered it, and listens to its buttons. */
export function listenTour() {
  offer();
  by("tour-offer").addEventListener("click", startTour);
  by("tour-skip").addEventListener("click", end);
  by("tour-back").addEventListener("click", () => show(here - 1));
  by("tour-next").addEventListener("click", () => show(here + 1));
  addEventListener("resize", () => !card.hidden && point(stops()[here].at));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || card.hidden || all("dialog[open]").length) return;
    event.stopImmediatePropagation();
    end();
  }, true);
}

function offer() {
  try {
    by("tour-offer").hidden = localStorage.getItem(OFFERED) === "1";
    localStorage.setItem(OFFERED, "1");
  } catch {
    // Without storage it is not offered; the menu has it.
  }
}
