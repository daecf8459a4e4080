// The heat map's picture: squares in the colours of the page's tokens, and rings around the nodes that matter.
import { token } from "../shared/theme.js";
import { BEST, HERE, isFeasible, NO } from "./data.js";

const RING = 2;
const HEADING = "600 11.5px";

/** @typedef {import("./arrange.js").Layout} Layout */
/** @typedef {import("./data.js").Cells} Cells */
/** @typedef {ReturnType<typeof colours>} Colours */

function colours() {
  return {
    plain: token("--line"),
    ok: token("--ok-mark"),
    no: token("--no-mark"),
    best: token("--wait-mark"),
    accent: token("--now"),
    soft: token("--soft"),
    ink: token("--ink"),
    mute: token("--mute"),
  };
}

/**
 * Draws everything anew.
 * @param {HTMLCanvasElement} canvas
 * @param {Layout} layout
 * @param {Cells} cells
 * @param {number[]} ringed The nodes that are looked at.
 */
export function draw(canvas, layout, cells, ringed) {
  const pen = penOf(canvas, layout);
  const palette = colours();
  drawHeadings(pen, layout, palette);
  drawSquares(pen, layout, cells, palette);
  for (const node of ringed) ring(pen, layout, node, palette.ink);
}

/**
 * A pen for a canvas as large and as sharp as it is shown.
 * @param {HTMLCanvasElement} canvas
 * @param {Layout} layout
 */
function penOf(canvas, { width, height }) {
  const ratio = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.height = `${height}px`;
  }
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {Colours} palette
 */
function drawHeadings(pen, { headings }, palette) {
  pen.font = `${HEADING} ${token("--sans")}`;
  for (const { text, count, y } of headings) {
    pen.fillStyle = palette.ink;
    pen.fillText(text, 0, y);
    pen.fillStyle = palette.mute;
    pen.fillText(String(count), pen.measureText(text).width + 8, y);
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {Cells} cells
 * @param {Colours} palette
 */
function drawSquares(pen, layout, cells, palette) {
  for (const { state, value, nodes } of alike(cells)) {
    if (cells.mode === "filter") drawState(pen, layout, nodes, state, palette);
    else drawValue(pen, layout, nodes, state, value, cells.mode, palette);
  }
}

/**
 * Nodes that look alike are drawn together: a change of the pen's colour costs more than a square.
 * @param {Cells} cells
 */
function alike({ mode, state, value }) {
  const heat = mode !== "filter";
  /** @type {Map<number, {state: number, value: number, nodes: number[]}>} */
  const buckets = new Map();
  for (let node = 0; node < state.length; node++) {
    const level = heat ? value[node] >> 3 : 0;
    const key = state[node] * 256 + level;
    const bucket = buckets.get(key);
    if (bucket) bucket.nodes.push(node);
    else buckets.set(key, { state: state[node], value: (level << 3) / 255, nodes: [node] });
  }
  return buckets.values();
}

/**
 * What Filter said.
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {number[]} nodes
 * @param {number} state
 * @param {Colours} palette
 */
function drawState(pen, layout, nodes, state, palette) {
  const { plain, ok, no, best, accent } = palette;
  pen.globalAlpha = state === NO ? 0.5 : 1;
  pen.fillStyle = [plain, ok, no, best, accent][state] ?? plain;
  fill(pen, layout, nodes);
  pen.globalAlpha = 1;
  if (state === HERE) nodes.forEach((node) => ring(pen, layout, node, palette.ink));
}

/**
 * How high a node scores, or how much of it is in use.
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {number[]} nodes
 * @param {number} state
 * @param {number} value
 * @param {string} mode
 * @param {Colours} palette
 */
function drawValue(pen, layout, nodes, state, value, mode, palette) {
  pen.fillStyle = palette.soft;
  fill(pen, layout, nodes);
  if (mode === "utilisation" || isFeasible(state)) {
    pen.fillStyle = palette.accent;
    pen.globalAlpha = mode === "score" ? 0.12 + 0.88 * value : value;
    fill(pen, layout, nodes);
    pen.globalAlpha = 1;
  }
  if (state >= BEST) {
    nodes.forEach((node) => ring(pen, layout, node, state === HERE ? palette.ok : palette.best));
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {number[]} nodes
 */
function fill(pen, { place, side }, nodes) {
  for (const node of nodes) pen.fillRect(place[node * 2], place[node * 2 + 1], side, side);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {number} node
 * @param {string} colour
 */
function ring(pen, { place, side }, node, colour) {
  pen.lineWidth = RING;
  pen.strokeStyle = colour;
  pen.strokeRect(place[node * 2] - 1, place[node * 2 + 1] - 1, side + 2, side + 2);
}
