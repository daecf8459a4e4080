// A node as a small card on the canvas: its name, its verdict, how full it is, and its pods where there is room.
import { NO } from "./data.js";
import { verdictOf } from "./words.js";

const INSET = 8;
const BAR = 7;
const ROUND = 8;
const LOW = 78; // a card up to which a verdict has one line

/** @typedef {import("./draw.js").Scene} Scene */

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number} node
 * @param {{fill?: string}} style
 * @param {number} x
 * @param {number} y
 * @param {number} side
 * @param {boolean} withPods
 */
export function drawCard(pen, scene, node, style, x, y, side, withPods) {
  const { cells, palette, names, facts } = scene;
  const line = palette.type + 5;
  frame(pen, scene, node, x, y, side);
  const heat = cells.value.length > 0;
  if (heat && style.fill) {
    pen.fillStyle = style.fill;
    pen.fillRect(x + INSET, y + side - INSET - 3, side - 2 * INSET, 5);
  }
  const room = side - 2 * INSET;
  let at = y + line;
  pen.font = `600 ${palette.type}px ${palette.mono}`;
  pen.fillStyle = palette.ink;
  pen.fillText(ending(pen, names[node] ?? "…", room), x + INSET, at);
  at += line;
  pen.font = `${palette.type}px ${palette.sans}`;
  pen.fillStyle = cells.state[node] === NO ? palette.no : cells.state[node] ? palette.ok : palette.idle;
  for (const text of twoLines(pen, verdictOf(cells, node), room, side > LOW)) {
    pen.fillText(text, x + INSET, at);
    at += line - 1;
  }
  at -= line - 1;
  const known = facts.get(node);
  if (!known || at + line + BAR > y + side - INSET) return;
  at += line - BAR - 4;
  if (known.percent >= 0) bar(pen, scene, known.percent, x + INSET, at, room);
  at += BAR + line - 2;
  pen.fillStyle = palette.mute;
  if (at < y + side - INSET && known.value) pen.fillText(beginning(pen, known.value, room), x + INSET, at);
  if (withPods) pods(pen, scene, known, x + INSET, at + line, y + side - INSET, room);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number} node
 * @param {number} x
 * @param {number} y
 * @param {number} side
 */
function frame(pen, { cells, palette }, node, x, y, side) {
  const state = cells.state[node];
  pen.fillStyle = state === NO ? palette.soft : palette.panel;
  pen.strokeStyle = state === NO ? palette.line : state ? palette["ok-mark"] : palette["idle-mark"];
  pen.lineWidth = 1.5;
  pen.setLineDash(state ? [] : [4, 3]);
  pen.beginPath();
  pen.roundRect(x, y, side, side, ROUND);
  pen.fill();
  pen.stroke();
  pen.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {number} percent
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function bar(pen, { palette }, percent, x, y, width) {
  pen.fillStyle = palette.line;
  pen.fillRect(x, y, width, BAR);
  pen.fillStyle = palette.use;
  pen.fillRect(x, y, width * percent / 100, BAR);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {import("./facts.js").Facts} known
 * @param {number} x
 * @param {number} top
 * @param {number} bottom
 * @param {number} room
 */
function pods(pen, { palette }, known, x, top, bottom, room) {
  const line = palette.type + 5;
  const lines = Math.max(0, Math.floor((bottom - top) / line) + 1);
  const all = known.pods.length + known.more;
  const shown = all > lines ? lines - 1 : all;
  pen.font = `${palette.type}px ${palette.mono}`;
  pen.fillStyle = palette.ink;
  known.pods.slice(0, Math.max(shown, 0)).forEach((name, i) =>
    pen.fillText(ending(pen, name, room), x, top + i * line)
  );
  if (all > shown && lines > 0) {
    pen.fillText(`+${all - Math.max(shown, 0)}`, x, top + Math.max(shown, 0) * line);
  }
}

/**
 * A text in one line, or in two where there is room for them.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} room
 * @param {boolean} two
 */
function twoLines(pen, text, room, two) {
  const words = text.split(" ");
  if (pen.measureText(text).width <= room) return [text];
  if (!two) return [words[0]]; // the glyph
  let kept = words.length - 1;
  while (kept > 1 && pen.measureText(words.slice(0, kept).join(" ")).width > room) kept--;
  return [words.slice(0, kept), words.slice(kept)].map((part) => beginning(pen, part.join(" "), room));
}

/**
 * A text without its end where there is no room for it.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} room
 */
function beginning(pen, text, room) {
  return cut(pen, text, room, (kept) => `${text.slice(0, kept)}…`);
}

/**
 * A name without its middle: names differ at their ends.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} room
 */
function ending(pen, text, room) {
  return cut(
    pen,
    text,
    room,
    (kept) => `${text.slice(0, kept >> 1)}…${text.slice(text.length - (kept + 1 >> 1))}`,
  );
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} room
 * @param {(kept: number) => string} shorten
 */
function cut(pen, text, room, shorten) {
  const width = pen.measureText(text).width;
  if (width <= room) return text;
  let kept = Math.max(1, Math.floor(text.length * room / width) - 1);
  while (kept > 1 && pen.measureText(shorten(kept)).width > room) kept--;
  return shorten(kept);
}
