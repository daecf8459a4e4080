// The map of a large cluster: a canvas, grouped by any label, from squares to cards with pods. Wheel, pinch and + − zoom, dragging pans;
// hover, focus and click tell a node.
import { by, the } from "../shared/dom.js";
import { onTheme } from "../shared/theme.js";
import { hideTip, showTip } from "../shared/tips.js";
import { arrange, nodeAt, nodeBeside } from "./arrange.js";
import { feasibleIn, isFound, readCells, readGroups } from "./data.js";
import { CARDS, draw, paletteOf, placeOf, PODS, ring, seen, SQUARES } from "./draw.js";
import { factsOf } from "./facts.js";
import { listenGestures } from "./gestures.js";
import { showGroupMenus } from "./groups.js";
import { showLegend } from "./legend.js";
import { loadNames, namesOf } from "./names.js";
import { around, EDGE, panned, reaching, WHOLE, zoomed } from "./view.js";
import { wordsOf } from "./words.js";

const STEP = 1.4; // of + and −
const PAN = 90;

const holder = by("heat-holder");
const canvas = the("heat", HTMLCanvasElement);
const says = by("heat-says");
const legend = by("heat-legend");
const level = by("heat-level");
const toFound = by("heat-found");

/** @type {import("./data.js").Groups | null} */
let groups = null;
/** @type {import("./data.js").Cells | null} */
let cells = null;
/** @type {Int32Array | null} */
let feasible = null;
/** @type {import("./arrange.js").Layout | null} */
let layout = null;
/** @type {ReturnType<typeof paletteOf> | null} */
let palette = null;
/** @type {(HTMLElement | null)[]} The elements that were read last. */
let read = [];
/** @type {import("./view.js").View} */
let view = WHOLE;
/** @type {import("./view.js").Size} */
let size = { width: 0, height: 0 };
let cursor = -1;
let spoken = false; // whether the cursor's node is said to assistive technology
let frame = 0;
let stale = true; // whether the picture without rings has to be drawn anew
const picture = document.createElement("canvas");
const facts = factsOf(redraw);

/** Reads what the panel brought and draws it; hides the canvas where the cluster is small. */
export async function drawHeat() {
  const data = document.getElementById("map-heat");
  const grouping = document.getElementById("map-groups");
  holder.hidden = !data;
  if (!data || !grouping || (read[0] === data && read[1] === grouping)) return;
  const { codes, values, blocks } = read[1]?.dataset ?? {};
  const rearranged = codes !== grouping.dataset.codes || values !== grouping.dataset.values ||
    blocks !== grouping.dataset.blocks;
  read = [data, grouping];
  groups = readGroups(grouping.dataset);
  cells = readCells(data.dataset);
  feasible = feasibleIn(cells, groups);
  facts.forget();
  // Asking for the size makes the browser lay the page out; the observer tells it when it changes.
  if (!size.width) size = { width: canvas.clientWidth, height: canvas.clientHeight };
  palette ??= paletteOf();
  if (rearranged || !layout) place();
  toFound.hidden = !cells.found;
  showLegend(legend, cells, palette);
  stale = true;
  paint();
  if (await loadNames(groups.order)) redraw();
  if (cursor >= 0) describe(); // a key or the mouse may have been quicker than the names
}

function place() {
  if (!cells || !groups || !size.width) return;
  layout = arrange(cells.state.length, groups, size.width - 2 * EDGE, size.height - 2 * EDGE);
  view = WHOLE;
}

/** Draws everything anew with the next frame. */
function redraw() {
  stale = true;
  refresh();
}

/** Draws the rings anew with the next frame. */
function refresh() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    paint();
  });
}

/** @returns {import("./draw.js").Scene | null} */
function scene() {
  if (!cells || !layout || !size.width) return null;
  palette ??= paletteOf();
  return { layout, cells, view, size, palette, names: namesOf(groups?.order), facts: facts.known, feasible };
}

function paint() {
  const now = scene();
  if (!now) return;
  const ratio = devicePixelRatio || 1;
  if (stale) drawPicture(now, ratio);
  const pen = penOf(canvas, now.size, ratio);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const chosen = now.cells.chosen ? now.names.indexOf(now.cells.chosen) : -1;
  for (const node of [chosen, cursor]) {
    if (node >= 0 && node < now.cells.state.length) ring(pen, now, node);
  }
}

/**
 * @param {import("./draw.js").Scene} now
 * @param {number} ratio
 */
function drawPicture(now, ratio) {
  const pen = penOf(picture, now.size, ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw(pen, now);
  stale = false;
  if (groups) showGroupMenus(now, groups);
  const side = now.layout.pitch * now.view.scale;
  level.textContent = wordOf(side);
  if (side >= CARDS) facts.want(seen(now), now.cells.mode);
}

/** @param {number} side */
function wordOf(side) {
  const { heat = "", squares = "", cards = "", pods = "" } = holder.dataset;
  if (side < SQUARES) return heat;
  if (side < CARDS) return squares;
  return side < PODS ? cards : pods;
}

/**
 * A pen for a canvas as large and as sharp as it is shown.
 * @param {HTMLCanvasElement} of
 * @param {import("./view.js").Size} size
 * @param {number} ratio
 */
function penOf(of, { width, height }, ratio) {
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (of.width !== across || of.height !== down) [of.width, of.height] = [across, down];
  return /** @type {CanvasRenderingContext2D} */ (of.getContext("2d"));
}

/**
 * The node at a place of the canvas.
 * @param {number} x
 * @param {number} y
 */
function under(x, y) {
  return layout ? nodeAt(layout, (x - EDGE) / view.scale + view.x, (y - EDGE) / view.scale + view.y) : -1;
}

/**
 * Shows a node's tooltip and ring; with `speak` it is said to assistive technology, too.
 * @param {number} node
 */
function point(node, speak = false) {
  if (node === cursor && !speak) return;
  cursor = node;
  spoken = speak;
  refresh();
  describe();
}

/** Says in words what is at the cursor. */
function describe() {
  const now = scene();
  delete canvas.dataset.node; // what a menu, a key and a dropped pod mean
  if (cursor < 0 || !now) return hideTip();
  const name = now.names[cursor] ?? "…";
  if (now.names[cursor]) canvas.dataset.node = name;
  const words = wordsOf(now.cells, cursor, facts.known.get(cursor)?.value);
  const box = canvas.getBoundingClientRect();
  const [left, top] = placeOf(now, cursor);
  showTip([name, ...words].join("\n"), box.left + left + now.layout.pitch * view.scale / 2, box.top + top);
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

/**
 * @param {number} factor
 * @param {number} [x]
 * @param {number} [y]
 */
function zoom(factor, x = size.width / 2, y = size.height / 2) {
  if (!layout) return;
  view = zoomed(view, layout, size, factor, x, y);
  hideTip();
  redraw();
}

/**
 * @param {number} dx
 * @param {number} dy
 */
function pan(dx, dy) {
  if (!layout) return;
  view = panned(view, layout, size, dx, dy);
  hideTip();
  redraw();
}

function showAll() {
  view = WHOLE;
  redraw();
}

/** Zooms to what the search means. */
export function zoomToFound() {
  const now = scene();
  if (!now?.cells.found) return;
  const found = now.layout.order.filter((node) => isFound(now.cells, node));
  if (!found.length) return;
  view = around(now.layout, size, found);
  redraw();
}

/** @type {Record<string, () => void>} */
const ZOOMS = { in: () => zoom(STEP), out: () => zoom(1 / STEP), all: showAll, found: zoomToFound };
/** @type {Record<string, (() => void) | undefined>} */
const KEYS = {
  "+": ZOOMS.in,
  "=": ZOOMS.in,
  "-": ZOOMS.out,
  "0": showAll,
  "Shift ArrowLeft": () => pan(-PAN, 0),
  "Shift ArrowRight": () => pan(PAN, 0),
  "Shift ArrowUp": () => pan(0, -PAN),
  "Shift ArrowDown": () => pan(0, PAN),
};

/** @param {KeyboardEvent} event */
function pressed(event) {
  const act = KEYS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift ${event.key}` : event.key];
  const next = act || !layout ? undefined : nodeBeside(layout, cursor, event.key);
  if (!act && next === undefined) return;
  event.preventDefault();
  if (act) return act();
  if (next === undefined || !layout) return;
  const seenFrom = reaching(view, layout, size, next);
  if (seenFrom !== view) stale = true;
  view = seenFrom;
  point(next, true);
}

/**
 * Opens a node when it is clicked, or when Enter is pressed on it.
 * @param {(name: string) => void} openNode
 */
export function listenHeat(openNode) {
  const open = (/** @type {number} */ node) => {
    const name = namesOf(groups?.order)[node];
    if (name) openNode(name);
  };
  listenGestures(canvas, {
    hover: (x, y) => point(under(x, y)),
    leave: () => point(-1),
    click: (x, y) => open(under(x, y)),
    zoom,
    pan,
  });
  canvas.addEventListener("blur", () => point(-1));
  canvas.addEventListener("dragover", ({ offsetX, offsetY }) => point(under(offsetX, offsetY)));
  canvas.addEventListener("dragleave", () => point(-1));
  canvas.addEventListener("keydown", (event) => event.key === "Enter" ? open(cursor) : pressed(event));
  for (const button of holder.querySelectorAll("button[data-zoom]")) {
    button.addEventListener("click", () => ZOOMS[/** @type {HTMLElement} */ (button).dataset.zoom ?? ""]?.());
  }
  document.addEventListener("keydown", (event) => {
    if (
      event.key !== "Enter" || !(event.target instanceof Element) || event.target.id !== "map-q" ||
      holder.hidden
    ) return;
    event.preventDefault();
    zoomToFound();
  });
  onTheme(repaint);
  new MutationObserver(repaint).observe(document.body, { attributeFilter: ["data-presenter"] });
  new ResizeObserver(([{ contentRect }]) => {
    const [width, height] = [Math.floor(contentRect.width), Math.floor(contentRect.height)];
    if (!cells || !width || (size.width === width && size.height === height)) return;
    size = { width, height };
    place();
    redraw();
  }).observe(canvas);
}

/** Colours or letters have changed. */
function repaint() {
  palette = paletteOf();
  if (cells) showLegend(legend, cells, palette);
  redraw();
}
