// Marks on the timeline: bookmarks, and where breakpoints and watches held in the steps that the lanes show.

const SVG = "http://www.w3.org/2000/svg";
const PAUSE = 350;
let shown = "";
let timer = 0;

const by = (id) => document.getElementById(id);

/** Fetches the marks of the window that the lanes show, a moment after the last change; not again for the same one. */
export function showMarks(seen, head, running) {
  drawFlags(head);
  const lanes = by("panel-timeline").dataset;
  const holder = by("marks");
  const wanted = `${lanes.first} ${lanes.last} ${holder.dataset.live === "1" ? Math.min(head, Number(lanes.last)) : ""}`;
  if (wanted === shown || running) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown = wanted;
    fetchMarks(lanes.first, lanes.last).then(() => drawFlags(head));
  }, PAUSE);
}

/** Breakpoints or bookmarks have changed: fetch at once. */
export function marksChanged(seen, head) {
  shown = "";
  const lanes = by("panel-timeline").dataset;
  return fetchMarks(lanes.first, lanes.last).then(() => drawFlags(head));
}

function fetchMarks(first, last) {
  const values = { first, last };
  return window.htmx.ajax("GET", `${location.pathname}marks`, { target: "#marks", swap: "outerHTML", values });
}

/** The session's bookmarks as they were fetched last: [{id, name, position}]. */
export function bookmarks() {
  return JSON.parse(by("marks").dataset.bookmarks || "[]");
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
