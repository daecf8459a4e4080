// What the map's panel brings of a large cluster: a byte or two for each node, in the order of the snapshot.

/** What the present cycle says of a node. */
export const UNSEEN = 0;
export const OK = 1;
export const NO = 2;
export const BEST = 3;
export const HERE = 4;

/**
 * @typedef {object} Groups
 * @property {Uint8Array} codes Each node's group.
 * @property {string[]} values The groups' names; the code behind the last one means none of them.
 * @property {string} none What the group without a name is called.
 * @property {string} all What the only group is called where nothing is grouped.
 * @property {string} order Which order of the nodes this is: their names are fetched once for each.
 */

/**
 * @typedef {object} Cells
 * @property {string} mode filter, score or utilisation
 * @property {Uint8Array} state
 * @property {Uint8Array} value A score or how much is in use, from 0 to 255.
 * @property {Uint8Array} reason
 * @property {string[]} reasons
 * @property {[least: number, most: number] | null} scores
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
export function readGroups({ codes, values, none = "", all = "", order = "" }) {
  return { codes: bytes(codes), values: lines(values), none, all, order };
}

/**
 * @param {DOMStringMap} data
 * @returns {Cells}
 */
export function readCells(data) {
  const [least, most] = data.scores?.split(" ").map(Number) ?? [];
  return {
    mode: data.mode ?? "",
    state: bytes(data.state),
    value: bytes(data.value),
    reason: bytes(data.reason),
    reasons: lines(data.reasons),
    scores: data.scores ? [least, most] : null,
    chosen: data.chosen,
    words: data,
  };
}

/**
 * Whether a node can be chosen: it is feasible, has the highest total, or is taken.
 * @param {number} state
 */
export const isFeasible = (state) => state === OK || state >= BEST;
