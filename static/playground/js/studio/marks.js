// Marks on the timeline: bookmarks, and where breakpoints and watches held in the steps that the lanes show.

const SVG = "http://www.w3.org/2000/svg";
const PAUSE = 350;
let shown = "";
let timer = 0;

const row = document.querySelector(".marks-row");
const marks = () => row.querySelector("#marks");
const by = (id) => document.getElementById(id);

/** Fetches the marks of the window that the lanes show, a moment after the last change; not again for the same one. */
export function showMarks(seen, head, running) {
  beside();
  drawFlags(head);
  const lanes = by("panel-timeline").dataset;
  const wanted = `${lanes.first} ${lanes.last} ${
    marks().dataset.live === "1" ? Math.min(head, Number(lanes.last)) : ""
  }`;
  if (wanted === shown || running) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown = wanted;
    fetchMarks(lanes.first, lanes.last).then(() => drawFlags(head));
  }, PAUSE);
}

/** The row stands directly above the lanes, also when the panel has been painted anew. */
function beside() {
  const lanes = document.querySelector("#panel-timeline .lane-rows");
  if (lanes && row.nextElementSibling !== lanes) lanes.before(row);
}

/** Breakpoints or bookmarks have changed: fetch at once. */
export function marksChanged(seen, head) {
  shown = "";
  const lanes = by("panel-timeline").dataset;
  return fetchMarks(lanes.first, lanes.last).then(() => drawFlags(head));
}

/** Into the row, wherever that stands by the time that the answer comes: the panel around it may have been painted anew. */
async function fetchMarks(first, last) {
  const answer = await fetch(`${location.pathname}marks?${new URLSearchParams({ first, last })}`).catch(() =>
    null
  );
  if (answer?.ok) marks().outerHTML = await answer.text();
  else shown = ""; // The server is away: the page tells so, and the next move asks again.
}

/** The session's bookmarks as they were fetched last: [{id, name, position}]. */
export function bookmarks() {
  return JSON.parse(marks().dataset.bookmarks || "[]");
}

/** Every bookmark as a flag on the rail, which spans the whole session. */
function drawFlags(head) {
  const flags = by("flags");
  const key = JSON.stringify([head, bookmarks()]);
  if (flags.dataset.key === key) return;
  flags.dataset.key = key;
  flags.replaceChildren(...bookmarks().map((one) => flag(one, head)));
}

function flag({ position, name }, head) {
  const link = document.createElementNS(SVG, "a");
  link.setAttribute("href", `?at=${position}`);
  link.dataset.goto = position;
  link.setAttribute("aria-label", `${name}, ${position}`);
  const title = document.createElementNS(SVG, "title");
  title.textContent = `${name} · ${position}`;
  const place = document.createElementNS(SVG, "svg");
  place.setAttribute("x", `${(100 * position) / Math.max(head, 1)}%`);
  place.setAttribute("overflow", "visible");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", "M-3.5 0h7v9l-3.5-3-3.5 3z");
  place.append(path);
  link.append(title, place);
  return link;
}
