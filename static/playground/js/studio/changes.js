// What changed: the foot of the inspector, fetched for the step that is shown while it is open.
import { all, by, first, the } from "../shared/dom.js";

const PAUSE = 140;
const OPEN = "changes-open";

/** @typedef {import("./marks.js").Bookmark} Bookmark */

const foot = the("changes", HTMLDetailsElement);
const since = the("changes-since", HTMLSelectElement);
const keep = by("changes-keep");
let shown = "";
let timer = 0;

/**
 * Shows the changes that lead to a position, a moment after the last move.
 * @param {number} position
 * @param {Bookmark[]} bookmarks Steps to choose from.
 */
export function showChanges(position, bookmarks) {
  offer(bookmarks);
  if (!foot.open) return;
  const from = since.value === "step" ? Math.max(0, position - 1) : Number(since.value);
  const wanted = `${from} ${position}`;
  if (wanted === shown) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown = wanted;
    const values = { from, to: position, part: "foot" };
    htmx.ajax("GET", `${location.pathname}diff`, { target: "#changes-body", swap: "innerHTML", values });
  }, PAUSE);
}

/**
 * Bookmarks as choices of what to compare with.
 * @param {Bookmark[]} bookmarks
 */
function offer(bookmarks) {
  const key = JSON.stringify(bookmarks);
  if (since.dataset.key === key) return;
  since.dataset.key = key;
  const chosen = since.value;
  all("[data-bookmark]", since).forEach((option) => option.remove());
  for (const { name, position } of bookmarks) {
    const option = new Option(name, String(position));
    option.dataset.bookmark = "";
    since.add(option);
  }
  since.value = chosen;
  if (since.selectedIndex < 0) since.value = "step";
}

/**
 * Listens to the foot being opened, and to the choice of what to compare with.
 * @param {() => [position: number, bookmarks: Bookmark[]]} here
 */
export function listenChanges(here) {
  foot.open = localStorage.getItem(OPEN) === "1";
  foot.addEventListener("toggle", () => {
    localStorage.setItem(OPEN, foot.open ? "1" : "0");
    showChanges(...here());
  });
  since.addEventListener("change", () => showChanges(...here()));
  keep.addEventListener("click", () => {
    const [position, bookmarks] = here();
    choose(position);
    showChanges(position, bookmarks);
  });
}

/**
 * From here on: this step is what later ones are compared with.
 * @param {number} position
 */
function choose(position) {
  first("[data-kept]", since)?.remove();
  const option = new Option(keep.dataset.step?.replace("%s", String(position)), String(position));
  option.dataset.kept = "";
  since.add(option, 1);
  since.value = String(position);
}
