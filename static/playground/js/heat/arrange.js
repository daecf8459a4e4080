// Where each node's cell is: groups one under the other, racks as blocks within them; as large as the map has room for.

const HEADING = 24;
const BASELINE = 16; // of a heading's text
const BETWEEN_GROUPS = 8;
const BETWEEN_BLOCKS = 4;
const BETWEEN_COLUMNS = 18;
const MOST_ACROSS = 6; // groups beside each other
const WIDE = 1.6; // a block is so many times as wide as high
const SMALLEST = 4;
const LARGEST = 110;

/**
 * @typedef {object} Heading
 * @property {string} text
 * @property {number} code Which group it is.
 * @property {number} count
 * @property {number} x
 * @property {number} y Of the text's baseline.
 * @property {number} end Where its group ends.
 * @property {number} width
 */

/**
 * @typedef {object} Layout
 * @property {Float32Array} place Two numbers for each node: its cell's left and top edge, before any zoom.
 * @property {number} pitch From one cell to the next.
 * @property {Heading[]} headings
 * @property {number[]} order The nodes as they are read: group by group, block by block.
 * @property {number} width
 * @property {number} height
 */

/**
 * The largest cells with which everything fits; the smallest ones where nothing does.
 * @param {number} nodes How many there are.
 * @param {import("./data.js").Groups} groups
 * @param {number} width
 * @param {number} room How high the map is.
 * @returns {Layout}
 */
export function arrange(nodes, groups, width, room) {
  const found = blocksOf(nodes, groups);
  let [pitch, columns] = [0, 1];
  for (let across = 1; across <= Math.min(found.length, MOST_ACROSS); across++) {
    const fits = pitchOf(found, widthOf(width, across), room, across);
    if (fits > pitch + 0.5) [pitch, columns] = [fits, across];
  }
  return laid(nodes, found, groups, width, pitch, columns);
}

/**
 * How wide one of so many groups beside each other is.
 * @param {number} width
 * @param {number} across
 */
const widthOf = (width, across) => (width - (across - 1) * BETWEEN_COLUMNS) / across;

/**
 * The largest pitch with which groups of this width fit into the room.
 * @param {Group[]} groups
 * @param {number} width
 * @param {number} room
 * @param {number} across
 */
function pitchOf(groups, width, room, across) {
  let [low, high] = [SMALLEST, Math.max(SMALLEST, Math.min(LARGEST, width))];
  while (high - low > 0.25) {
    const middle = (low + high) / 2;
    if (heightOf(groups, width, middle, across) <= room) low = middle;
    else high = middle;
  }
  return low;
}

/** @typedef {{code: number, blocks: number[][]}} Group */

/**
 * Groups in their order, each with its blocks of nodes.
 * @param {number} nodes
 * @param {import("./data.js").Groups} groups
 */
function blocksOf(nodes, { codes, blocks, values }) {
  /** @type {Map<number, number[]>[]} */
  const found = Array.from({ length: values.length + 1 }, () => new Map());
  for (let node = 0; node < nodes; node++) {
    const block = blocks ? blocks[node] : 0;
    const members = found[codes[node]].get(block);
    if (members) members.push(node);
    else found[codes[node]].set(block, [node]);
  }
  return found.flatMap((of, code) =>
    of.size ? [{ code, blocks: [...of].sort(([a], [b]) => a - b).map(([, members]) => members) }] : []
  );
}

/**
 * How many cells are in a block's row: of one block alone as many as there is room for.
 * @param {number} count
 * @param {number} most
 * @param {boolean} alone
 */
const columnsOf = (count, most, alone) =>
  alone ? most : Math.min(most, Math.max(1, Math.ceil(Math.sqrt(count * WIDE))));

/**
 * Calls `put` for each block with where it begins and how wide it is; returns how high the group is.
 * @param {number[][]} blocks
 * @param {number} width
 * @param {number} pitch
 * @param {(block: number[], x: number, y: number, columns: number) => void} [put]
 */
function flow(blocks, width, pitch, put) {
  const most = Math.max(1, Math.floor(width / pitch));
  let [x, y, row] = [0, 0, 0];
  for (const block of blocks) {
    const columns = columnsOf(block.length, most, blocks.length === 1);
    if (x && x + columns * pitch > width) [x, y, row] = [0, y + row + BETWEEN_BLOCKS, 0];
    put?.(block, x, y, columns);
    x += columns * pitch + BETWEEN_BLOCKS;
    row = Math.max(row, Math.ceil(block.length / columns) * pitch);
  }
  return y + row;
}

/**
 * @param {Group[]} groups
 * @param {number} width
 * @param {number} pitch
 * @param {number} across
 */
function heightOf(groups, width, pitch, across) {
  const heights = groups.map(({ blocks }) => flow(blocks, width, pitch));
  let height = 0;
  for (let i = 0; i < groups.length; i += across) {
    height += HEADING + Math.max(...heights.slice(i, i + across)) + BETWEEN_GROUPS;
  }
  return height;
}

/**
 * @param {number} nodes
 * @param {Group[]} found
 * @param {import("./data.js").Groups} groups
 * @param {number} width
 * @param {number} pitch
 * @param {number} across
 * @returns {Layout}
 */
function laid(nodes, found, groups, width, pitch, across) {
  const place = new Float32Array(nodes * 2);
  const own = widthOf(width, across);
  /** @type {number[]} */
  const order = [];
  /** @type {Heading[]} */
  const headings = [];
  let [top, highest] = [0, 0];
  for (const [i, { code, blocks }] of found.entries()) {
    const left = (i % across) * (own + BETWEEN_COLUMNS);
    if (i && !(i % across)) [top, highest] = [top + HEADING + highest + BETWEEN_GROUPS, 0];
    const count = blocks.reduce((sum, { length }) => sum + length, 0);
    const height = flow(blocks, own, pitch, (block, x, y, columns) => {
      for (const [k, node] of block.entries()) {
        place[node * 2] = left + x + (k % columns) * pitch;
        place[node * 2 + 1] = top + HEADING + y + Math.floor(k / columns) * pitch;
        order.push(node);
      }
    });
    headings.push({
      text: nameOf(code, groups),
      code,
      count,
      x: left,
      y: top + BASELINE,
      end: top + HEADING + height,
      width: own,
    });
    highest = Math.max(highest, height);
  }
  return { place, pitch, headings, order, width, height: top + HEADING + highest };
}

/**
 * @param {number} code
 * @param {import("./data.js").Groups} groups
 */
function nameOf(code, { values, none, all }) {
  return values.length ? (values[code] ?? none) : all;
}

/**
 * The node whose cell is at a place; -1 where there is none.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 */
export function nodeAt({ place, pitch }, x, y) {
  for (let node = 0; node * 2 < place.length; node++) {
    const dx = x - place[node * 2];
    const dy = y - place[node * 2 + 1];
    if (dx >= 0 && dy >= 0 && dx < pitch && dy < pitch) return node;
  }
  return -1;
}

const WAYS = /** @type {Record<string, [number, number]>} */ ({
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
});

/**
 * The node that an arrow key leads to: the nearest one on that side; undefined for other keys.
 * @param {Layout} layout
 * @param {number} node The present one, or -1.
 * @param {string} key
 */
export function nodeBeside({ place, order }, node, key) {
  const way = WAYS[key];
  if (!way || !order.length) return undefined;
  if (node < 0) return order[0];
  let [best, least] = [node, Infinity];
  for (const other of order) {
    const dx = place[other * 2] - place[node * 2];
    const dy = place[other * 2 + 1] - place[node * 2 + 1];
    const along = dx * way[0] + dy * way[1];
    const far = along > 0.5 ? along + 3 * Math.abs(way[0] ? dy : dx) : Infinity;
    if (far < least) [best, least] = [other, far];
  }
  return best;
}
