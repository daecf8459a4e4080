// What the map's panel brings of a large cluster: a byte or two for each node, in the order of the snapshot.

/** What the present cycle says of a node. */
export const UNSEEN = 0;
export const OK = 1;
export const NO = 2;
export const BEST = 3;
export const HERE = 4;

/** The band of a node without a value. */
export const NONE = 255;

/**
 * @typedef {object} Groups
 * @property {Uint8Array} codes Each node's group.
 * @property {Uint8Array | null} blocks Each node's rack within its group, where nodes have racks.
 * @property {string[]} values The groups' names; the code behind the last one means none of them.
 * @property {string} none What the group without a name is called.
 * @property {string} all What the only group is called where nothing is grouped.
 * @property {string} order Which order of the nodes this is: their names are fetched once for each.
 */

/**
 * @typedef {object} Cells
 * @property {string} mode filter, or what the bands are of
 * @property {Uint8Array} state
 * @property {Uint8Array} value The band of each node; empty in the mode filter.
 * @property {string[]} labels What the bands mean, from the lowest on.
 * @property {Uint8Array} reason
 * @property {string[]} reasons
 * @property {Uint8Array | null} found A bit for each node that the search means; null where nothing is searched for.
 * @property {string | undefined} chosen The name of the node that is looked at.
 * @property {DOMStringMap} words
 */

/** @param {string | undefined} text */
const bytes = (text) => Uint8Array.from(atob(text ?? ""), (letter) => letter.charCodeAt(0));

/** @param {string | undefined} text */
const lines = (text) => text ? text.split("\n") : [];

/**
 * @param {DOMStringMap} data
 * @returns {Groups}
 */
export function readGroups({ codes, blocks, values, none = "", all = "", order = "" }) {
  return {
    codes: bytes(codes),
    blocks: blocks ? bytes(blocks) : null,
    values: lines(values),
    none,
    all,
    order,
  };
}

/**
 * @param {DOMStringMap} data
 * @returns {Cells}
 */
export function readCells(data) {
  return {
    mode: data.mode ?? "",
    state: bytes(data.state),
    value: bytes(data.value),
    labels: lines(data.labels),
    reason: bytes(data.reason),
    reasons: lines(data.reasons),
    found: data.searched ? bytes(data.found) : null,
    chosen: data.chosen,
    words: data,
  };
}

/**
 * Whether the search means a node; all are meant where nothing is searched for.
 * @param {Cells} cells
 * @param {number} node
 */
export const isFound = ({ found }, node) => !found || (found[node >> 3] >> (7 - (node & 7)) & 1) === 1;

/**
 * Whether a node can be chosen: it is feasible, has the highest total, or is taken.
 * @param {number} state
 */
export const isFeasible = (state) => state === OK || state >= BEST;

/**
 * How many nodes of each group can be chosen; null while nothing is said of any node.
 * @param {Cells} cells
 * @param {Groups} groups
 */
export function feasibleIn({ state }, { codes, values }) {
  if (!state.some((one) => one !== UNSEEN)) return null;
  const counts = new Int32Array(values.length + 1);
  for (let node = 0; node < state.length; node++) if (isFeasible(state[node])) counts[codes[node]]++;
  return counts;
}
