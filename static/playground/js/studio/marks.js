// Marks on the timeline: bookmarks, and where breakpoints and watches held in the steps that the lanes show.
import { all, by, first } from "../shared/dom.js";
import { fetchEnds, showFlags } from "../frame/flags.js";

const PAUSE = 350;

/** @typedef {{id: number, name: string, position: number}} Bookmark */

const row = /** @type {HTMLElement} */ (first(".marks-row"));
const marks = () => /** @type {HTMLElement} */ (first("#marks", row));
let shown = "";
let timer = 0;
let asked = 0;

/**
 * The session's bookmarks as they were fetched last.
 * @returns {Bookmark[]}
 */
export function bookmarks() {
  return JSON.parse(marks().dataset.bookmarks || "[]");
}

/**
 * Fetches the marks of the window that the lanes show, a moment after the last change; not again for the same one.
 * @param {number} head
 * @param {boolean} running
 */
export function showMarks(head, running) {
  stayAboveLanes();
  drawFlags(head);
  if (!running) fetchEnds(head, () => drawFlags(head));
  const { first, last } = by("panel-timeline").dataset;
  const live = marks().dataset.live === "1";
  const wanted = `${first} ${last} ${live ? Math.min(head, Number(last)) : ""}`;
  if (wanted === shown || running) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown = wanted;
    fetchMarks(head);
  }, PAUSE);
}

/**
 * Breakpoints or bookmarks have changed: fetch at once.
 * @param {number} head
 */
export function marksChanged(head) {
  shown = "";
  return fetchMarks(head);
}

/** The row stands directly above the lanes, also when the panel has been painted anew. */
function stayAboveLanes() {
  const lanes = first("#panel-timeline .lane-rows");
  if (lanes && row.nextElementSibling !== lanes) lanes.before(row);
}

/**
 * Into the row, wherever that stands by the time that the answer comes: the panel around it may have been painted anew.
 * An answer that a later question has overtaken is dropped: it may be of the time before the change.
 * @param {number} head
 */
async function fetchMarks(head) {
  const { first = "", last = "" } = by("panel-timeline").dataset;
  const url = `${location.pathname}marks?${new URLSearchParams({ first, last })}`;
  const turn = ++asked;
  const answer = await fetch(url).catch(() => null);
  const text = answer?.ok ? await answer.text() : null;
  if (turn !== asked) return;
  if (text !== null) marks().outerHTML = text;
  else shown = ""; // The server is away: the page tells so, and the next move asks again.
  drawFlags(head);
}

/**
 * Bookmarks, and where breakpoints held as far as it is known, on the rail.
 * @param {number} head
 */
function drawFlags(head) {
  const held = all("a:has(.held)", marks()).map(({ dataset }) => Number(dataset.goto));
  showFlags(head, bookmarks(), held);
}
