// Where each node's square is: groups one under the other, rows of squares as wide as there is room.

const GAP = 2;
const HEADING = 20;
const BASELINE = 13; // of a heading's text
const BETWEEN_GROUPS = 7;
const AREA = 240; // of the map is filled, in pixels of its height, where squares can be that large
const SMALLEST = 6;
const LARGEST = 16;

/**
 * @typedef {object} Layout
 * @property {Int32Array} place Two numbers for each node: its square's left and top edge.
 * @property {number} side
 * @property {number} columns
 * @property {{text: string, count: number, y: number}[]} headings
 * @property {number[]} order The nodes as they are read: group by group, row by row.
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {number} nodes How many there are.
 * @param {import("./data.js").Groups} groups
 * @param {number} width
 * @returns {Layout}
 */
export function arrange(nodes, groups, width) {
  const side = sideOf(nodes, width);
  const pitch = side + GAP;
  const columns = Math.max(1, Math.floor((width + GAP) / pitch));
  const place = new Int32Array(nodes * 2);
  const headings = [];
  const order = [];
  let y = 0;
  for (const [code, members] of membersOf(nodes, groups).entries()) {
    if (!members.length) continue;
    headings.push({ text: nameOf(code, groups), count: members.length, y: y + BASELINE });
    y += HEADING;
    for (const [k, node] of members.entries()) {
      place[node * 2] = (k % columns) * pitch;
      place[node * 2 + 1] = y + Math.floor(k / columns) * pitch;
      order.push(node);
    }
    y += Math.ceil(members.length / columns) * pitch + BETWEEN_GROUPS;
  }
  return { place, side, columns, headings, order, width, height: y };
}

/**
 * @param {number} nodes
 * @param {number} width
 */
function sideOf(nodes, width) {
  const fitting = Math.floor(Math.sqrt((width * AREA) / Math.max(nodes, 1))) - GAP;
  return Math.max(SMALLEST, Math.min(LARGEST, fitting));
}

/**
 * @param {number} nodes
 * @param {import("./data.js").Groups} groups
 */
function membersOf(nodes, { codes, values }) {
  /** @type {number[][]} */
  const members = Array.from({ length: values.length + 1 }, () => []);
  for (let node = 0; node < nodes; node++) members[codes[node]].push(node);
  return members;
}

/**
 * @param {number} code
 * @param {import("./data.js").Groups} groups
 */
function nameOf(code, { values, none, all }) {
  return values.length ? (values[code] ?? none) : all;
}

/**
 * The node whose square is at a place; -1 where there is none.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 */
export function nodeAt({ place, side }, x, y) {
  const pitch = side + GAP;
  for (let node = 0; node * 2 < place.length; node++) {
    const dx = x - place[node * 2];
    const dy = y - place[node * 2 + 1];
    if (dx >= 0 && dy >= 0 && dx < pitch && dy < pitch) return node;
  }
  return -1;
}

/**
 * The node that an arrow key leads to; undefined for other keys.
 * @param {Layout} layout
 * @param {number} node The present one, or -1.
 * @param {string} key
 */
export function nodeBeside({ order, columns }, node, key) {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[key];
  if (!step || !order.length) return undefined;
  const next = node < 0 ? 0 : order.indexOf(node) + step;
  return order[Math.max(0, Math.min(order.length - 1, next))];
}
