// The large map's picture. From afar each node is a square; nearer it has its verdict's glyph; then it is a card, at last with its pods.
import { token } from "../shared/theme.js";
import { BEST, HERE, isFound, NO, NONE, UNSEEN } from "./data.js";
import { drawCard } from "./card.js";
import { EDGE } from "./view.js";

const BANDS = 7;
const DIM = 0.28;
export const MENU = 30; // the room at the end of a heading for its group's menu
const TOKENS = /** @type {const} */ ([
  "panel",
  "soft",
  "line",
  "ink",
  "mute",
  "now",
  "ok",
  "ok-mark",
  "no",
  "no-mark",
  "no-soft",
  "hold-mark",
  "idle",
  "idle-mark",
  "use",
]);

/** From which side of a cell, in pixels, it shows more. */
export const SQUARES = 20;
export const CARDS = 72;
export const PODS = 176;

/** @typedef {import("./arrange.js").Layout} Layout */
/** @typedef {import("./data.js").Cells} Cells */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Size} Size */
/** @typedef {ReturnType<typeof paletteOf>} Palette */

/**
 * @typedef {object} Scene
 * @property {Layout} layout
 * @property {Cells} cells
 * @property {View} view
 * @property {Size} size
 * @property {Palette} palette
 * @property {string[]} names
 * @property {Map<number, import("./facts.js").Facts>} facts
 * @property {Int32Array | null} feasible How many nodes of each group can be chosen, where that is known.
 */

/** The page's colours and letters as they are now; asking for them takes longer than drawing a thousand cells. */
export function paletteOf() {
  const found = /** @type {Record<typeof TOKENS[number], string>} */ (Object.fromEntries(
    TOKENS.map((name) => [name, token(`--${name}`)]),
  ));
  const bands = Array.from({ length: BANDS }, (_, i) => token(`--m${BANDS - i}`));
  const least = document.body.hasAttribute("data-presenter") ? 16 : 13;
  return {
    ...found,
    bands,
    type: Math.max(least, parseFloat(token("--t1")) || 0),
    sans: token("--sans") || "sans-serif",
    mono: token("--mono") || "monospace",
  };
}

/**
 * The colour of a band, where there are so many.
 * @param {Palette} palette
 * @param {number} band
 * @param {number} count
 */
export const colourOf = ({ bands }, band, count) =>
  bands[count < 2 ? BANDS - 1 : Math.round(band * (BANDS - 1) / (count - 1))];

/**
 * Draws all that is seen.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
export function draw(pen, scene) {
  const { size, layout, view } = scene;
  pen.clearRect(0, 0, size.width, size.height);
  const side = layout.pitch * view.scale;
  const nodes = seen(scene);
  if (side >= CARDS) nodes.forEach((node) => card(pen, scene, node, side));
  else cellsOf(pen, scene, nodes, side);
  if (scene.cells.found) rings(pen, scene, nodes, side);
  headings(pen, scene);
}

/**
 * A ring around one node.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number} node
 */
export function ring(pen, scene, node) {
  const [x, y] = placeOf(scene, node);
  const side = sideOf(scene);
  pen.lineWidth = 2;
  pen.strokeStyle = scene.palette.ink;
  pen.strokeRect(x - 2, y - 2, side + 4, side + 4);
}

/**
 * Where a node's cell is on the canvas.
 * @param {Scene} scene
 * @param {number} node
 */
export function placeOf({ layout, view }, node) {
  const [x, y] = layout.place.subarray(node * 2, node * 2 + 2);
  return [(x - view.x) * view.scale + EDGE, (y - view.y) * view.scale + EDGE];
}

/** @param {Scene} scene */
function sideOf({ layout, view }) {
  const side = layout.pitch * view.scale;
  return side - gapOf(side);
}

/** @param {number} side */
const gapOf = (side) => side >= CARDS ? 7 : side >= SQUARES ? 3 : side >= 7 ? 1.5 : 1;

/**
 * The nodes that are on the screen.
 * @param {Scene} scene
 */
export function seen({ layout, size, view }) {
  const { place, order } = layout;
  const { scale } = view;
  const [left, top] = [EDGE - view.x * scale, EDGE - view.y * scale];
  const side = layout.pitch * scale;
  /** @type {number[]} */
  const found = [];
  for (const node of order) {
    const x = place[node * 2] * scale + left;
    const y = place[node * 2 + 1] * scale + top;
    if (x > -side && y > -side && x < size.width && y < size.height) found.push(node);
  }
  return found;
}

/**
 * Cells that look alike are drawn together: a change of the pen's colour costs more than a square.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number[]} nodes
 * @param {number} side
 */
function cellsOf(pen, scene, nodes, side) {
  for (const [look, members] of alike(scene.cells, nodes)) {
    pen.globalAlpha = look & 1 ? 1 : DIM;
    paint(pen, scene, members, styleOf(scene, members[0]), side);
  }
  pen.globalAlpha = 1;
}

/**
 * @param {Cells} cells
 * @param {number[]} nodes
 * @returns {Map<number, number[]>}
 */
function alike(cells, nodes) {
  const found = new Map();
  const heat = cells.value.length > 0;
  for (const node of nodes) {
    const look = ((heat ? cells.value[node] : 0) << 4 | cells.state[node] << 1) |
      (isFound(cells, node) ? 1 : 0);
    const members = found.get(look);
    if (members) members.push(node);
    else found.set(look, [node]);
  }
  return found;
}

/**
 * How a cell is drawn: filled, crossed where it was refused, or hollow.
 * @param {Scene} scene
 * @param {number} node
 * @returns {{fill?: string, cross?: string, hollow?: string, glyph: string}}
 */
function styleOf({ cells, palette }, node) {
  const state = cells.state[node];
  const band = cells.value.length ? cells.value[node] : NONE;
  if (band !== NONE) return { fill: colourOf(palette, band, cells.labels.length), glyph: "" };
  if (state === NO) return { fill: palette["no-soft"], cross: palette["no-mark"], glyph: "" };
  if (cells.value.length || state === UNSEEN) return { hollow: palette["idle-mark"], glyph: "–" };
  if (state === HERE) return { fill: palette["hold-mark"], glyph: "◆" };
  return state === BEST ? { fill: palette.ok, glyph: "★" } : { fill: palette["ok-mark"], glyph: "✓" };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number[]} nodes
 * @param {ReturnType<typeof styleOf>} style
 * @param {number} pitch
 */
function paint(pen, scene, nodes, { fill, cross, hollow, glyph }, pitch) {
  const side = pitch - gapOf(pitch);
  const squares = new Path2D();
  const crosses = new Path2D();
  const { place } = scene.layout;
  const { scale } = scene.view;
  const [left, top] = [EDGE - scene.view.x * scale, EDGE - scene.view.y * scale];
  const inset = hollow ? 0.5 : 0;
  for (const node of nodes) {
    const x = place[node * 2] * scale + left;
    const y = place[node * 2 + 1] * scale + top;
    squares.rect(x + inset, y + inset, side - 2 * inset, side - 2 * inset);
    if (cross) {
      crosses.moveTo(x + 0.5, y + side - 0.5);
      crosses.lineTo(x + side - 0.5, y + 0.5);
    }
  }
  if (fill) {
    pen.fillStyle = fill;
    pen.fill(squares);
  }
  if (hollow) {
    pen.lineWidth = 1;
    pen.strokeStyle = hollow;
    pen.stroke(squares);
  }
  if (cross) {
    pen.lineWidth = Math.max(1.1, side / 11);
    pen.strokeStyle = cross;
    pen.stroke(crosses);
  }
  if (glyph && pitch >= SQUARES + 4) glyphs(pen, scene, nodes, glyph, side, Boolean(hollow));
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number[]} nodes
 * @param {string} glyph
 * @param {number} side
 * @param {boolean} hollow
 */
function glyphs(pen, scene, nodes, glyph, side, hollow) {
  const { palette } = scene;
  pen.font = `700 ${palette.type}px ${palette.sans}`;
  pen.fillStyle = hollow ? palette.idle : palette.panel;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const node of nodes) {
    const [x, y] = placeOf(scene, node);
    pen.fillText(glyph, x + side / 2, y + side / 2 + 1);
  }
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
}

/**
 * What the search means.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number[]} nodes
 * @param {number} pitch
 */
function rings(pen, scene, nodes, pitch) {
  const side = pitch - gapOf(pitch);
  const path = new Path2D();
  for (const node of nodes) {
    if (!isFound(scene.cells, node)) continue;
    const [x, y] = placeOf(scene, node);
    if (pitch >= CARDS) path.roundRect(x - 1, y - 1, side + 2, side + 2, 9);
    else path.rect(x - 1, y - 1, side + 2, side + 2);
  }
  pen.lineWidth = pitch >= 9 ? 2 : 1;
  pen.strokeStyle = scene.palette.now;
  pen.stroke(path);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number} node
 * @param {number} pitch
 */
function card(pen, scene, node, pitch) {
  const { cells } = scene;
  const [x, y] = placeOf(scene, node);
  pen.globalAlpha = isFound(cells, node) ? 1 : DIM;
  drawCard(pen, scene, node, styleOf(scene, node), x, y, pitch - gapOf(pitch), pitch >= PODS);
  pen.globalAlpha = 1;
}

/**
 * A group's heading stays in sight while its nodes are.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function headings(pen, scene) {
  const { palette, size } = scene;
  const line = palette.type + 9;
  for (const { heading, left, right, top, at } of headingsOf(scene)) {
    if (at > top) {
      pen.fillStyle = palette.panel;
      pen.fillRect(left, at - line + 4, Math.min(right, size.width) - left, line);
    }
    writeHeading(pen, palette, heading.text, sizesOf(scene, heading), left, at, Math.min(right, size.width));
  }
}

/**
 * The headings that are seen: where each begins and ends, and the baseline of its text; `top` is where that would be had it not moved.
 * @param {Scene} scene
 */
export function headingsOf({ layout, view, palette, size }) {
  const line = palette.type + 9;
  return layout.headings.flatMap((heading) => {
    const left = Math.max(EDGE, (heading.x - view.x) * view.scale + EDGE);
    const right = (heading.x + heading.width - view.x) * view.scale + EDGE;
    const top = (heading.y - view.y) * view.scale + EDGE;
    const last = (heading.end - view.y) * view.scale + EDGE;
    if (last < 0 || top > size.height + line || right < 0 || left > size.width) return [];
    return [{ heading, left, right, top, at: Math.max(top, Math.min(line - 4, last)) }];
  });
}

/**
 * How many nodes a group has, and how many of them can be chosen: in words, and shorter.
 * @param {Scene} scene
 * @param {import("./arrange.js").Heading} heading
 */
export function sizesOf({ cells, feasible }, { code, count }) {
  const n = count.toLocaleString("en");
  const words = (feasible ? cells.words.share : cells.words.count) ?? "";
  const k = feasible ? feasible[code].toLocaleString("en") : "";
  return [words.replace("{k}", k).replace("{n}", n), feasible ? `✓ ${k} / ${n}` : n];
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Palette} palette
 * @param {string} text
 * @param {string[]} sizes
 * @param {number} x
 * @param {number} y
 * @param {number} end Where its group ends.
 */
function writeHeading(pen, palette, text, sizes, x, y, end) {
  pen.fillStyle = palette.ink;
  pen.font = `600 ${palette.type + 1}px ${palette.sans}`;
  pen.fillText(text, x, y);
  const after = x + pen.measureText(text).width + 10;
  pen.fillStyle = palette.mute;
  pen.font = `${palette.type}px ${palette.sans}`;
  const fits = sizes.find((size) => after + pen.measureText(size).width <= end - MENU);
  if (fits) pen.fillText(fits, after, y);
}
