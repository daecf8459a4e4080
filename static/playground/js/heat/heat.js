// The heat map of a large cluster: a canvas, one square a node, grouped by any label. Hover, focus and click tell a node.
import { by, the } from "../shared/dom.js";
import { onTheme, token } from "../shared/theme.js";
import { hideTip, showTip } from "../shared/tips.js";
import { arrange, nodeAt, nodeBeside } from "./arrange.js";
import { readCells, readGroups } from "./data.js";
import { draw } from "./draw.js";
import { legendOf, wordsOf } from "./words.js";

const holder = by("heat-holder");
const canvas = the("heat", HTMLCanvasElement);
const says = by("heat-says");

/** @type {{order: string, list: string[]}} The nodes' names, fetched once for each order of them. */
let names = { order: "", list: [] };
/** @type {import("./data.js").Groups | null} */
let groups = null;
/** @type {import("./data.js").Cells | null} */
let cells = null;
/** @type {import("./arrange.js").Layout | null} */
let layout = null;
/** @type {(HTMLElement | null)[]} The elements that were read last. */
let read = [];
let cursor = -1;
let spoken = false; // whether the cursor's node is said to assistive technology
let width = 0;

/** Reads what the panel brought and draws it; hides the canvas where the cluster is small. */
export async function drawHeat() {
  const data = document.getElementById("map-heat");
  const grouping = document.getElementById("map-groups");
  holder.hidden = !data;
  if (!data || !grouping || (read[0] === data && read[1] === grouping)) return;
  const { codes, values } = read[1]?.dataset ?? {};
  const rearranged = codes !== grouping.dataset.codes || values !== grouping.dataset.values;
  read = [data, grouping];
  groups = readGroups(grouping.dataset);
  cells = readCells(data.dataset);
  // Asking for the width makes the browser lay the page out; the observer tells it when it changes.
  width ||= holder.clientWidth;
  if (rearranged || !layout) place();
  redraw();
  showLegend();
  if (names.order !== groups.order) await loadNames(groups.order);
}

/** @param {string} order */
async function loadNames(order) {
  const at = new URLSearchParams(location.search).get("at");
  const answer = await fetch(`nodes.json${at === null ? "" : `?at=${at}`}`).catch(() => null);
  if (!answer?.ok) return;
  names = { order, list: (await answer.json()).names };
  redraw();
  if (cursor >= 0) describe(); // a key or the mouse may have been quicker than the names
}

function place() {
  if (cells && groups) layout = arrange(cells.state.length, groups, width);
}

function redraw() {
  if (!cells || !layout) return;
  const chosen = cells.chosen ? names.list.indexOf(cells.chosen) : -1;
  const { length } = cells.state;
  draw(canvas, layout, cells, [chosen, cursor].filter((node) => node >= 0 && node < length));
}

function showLegend() {
  if (!cells) return;
  const items = legendOf(cells).map(([colour, text]) => {
    const item = document.createElement("span");
    const mark = document.createElement("i");
    mark.style.background = token(colour);
    item.append(mark, text);
    return item;
  });
  says.replaceChildren(...items);
}

/** @param {MouseEvent} event */
function under(event) {
  if (!layout) return -1;
  const box = canvas.getBoundingClientRect();
  return nodeAt(layout, event.clientX - box.left, event.clientY - box.top);
}

/**
 * Shows a node's tooltip and ring; with `speak` it is said to assistive technology, too.
 * @param {number} node
 */
function point(node, speak = false) {
  if (node === cursor && !speak) return;
  cursor = node;
  spoken = speak;
  redraw();
  describe();
}

/** Says in words what is at the cursor. */
function describe() {
  if (cursor < 0 || !cells || !layout) return hideTip();
  const name = names.order === groups?.order ? names.list[cursor] : "…";
  const words = wordsOf(cells, cursor);
  const box = canvas.getBoundingClientRect();
  const [left, top] = layout.place.subarray(cursor * 2, cursor * 2 + 2);
  showTip([name, ...words].filter(Boolean).join("\n"), box.left + left + layout.side / 2, box.top + top);
  if (spoken) say(name, words);
}

/**
 * @param {string} name
 * @param {(string | undefined)[]} words
 */
function say(name, words) {
  const bold = document.createElement("b");
  bold.textContent = name;
  says.replaceChildren(bold, ` ${words.join(", ")}`);
}

function leave() {
  if (!cells) return;
  point(-1);
  showLegend();
}

/**
 * Opens a node when it is clicked, or when Enter is pressed on it; arrow keys move along the squares.
 * @param {(name: string) => void} openNode
 */
export function listenHeat(openNode) {
  const open = (/** @type {number} */ node) => names.list[node] && openNode(names.list[node]);
  canvas.addEventListener("mousemove", (event) => point(under(event)));
  canvas.addEventListener("mouseleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("click", (event) => open(under(event)));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open(cursor);
    const next = layout ? nodeBeside(layout, cursor, event.key) : undefined;
    if (next === undefined) return;
    point(next, true);
    event.preventDefault();
  });
  onTheme(() => {
    redraw();
    showLegend();
  });
  new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width);
    if (!cells || !width || layout?.width === width) return;
    place();
    redraw();
  }).observe(holder);
}
