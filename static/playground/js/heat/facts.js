// What cards say of nodes: asked of the server for those that are on the screen, once they have stood still for a moment.
import { standingAt } from "../shared/standing.js";

const PAUSE = 90;
const MOST = 300;

/**
 * @typedef {object} Facts
 * @property {number} row
 * @property {string} value
 * @property {number} percent -1 where the value is no share.
 * @property {string[]} pods
 * @property {number} more
 */

/**
 * @param {() => void} then Called when more is known.
 */
export function factsOf(then) {
  /** @type {Map<number, Facts>} */
  let known = new Map();
  let timer = 0;
  let version = 0;
  return {
    get known() {
      return known;
    },
    /** What was known holds no more: the map has changed. */
    forget() {
      version++;
      known = new Map();
    },
    /**
     * Asks for what is not known of these nodes.
     * @param {number[]} nodes
     * @param {string} mode
     */
    want(nodes, mode) {
      const missing = nodes.filter((node) => !known.has(node)).slice(0, MOST);
      clearTimeout(timer);
      if (missing.length) timer = setTimeout(() => ask(missing, mode), PAUSE);
    },
  };

  /**
   * @param {number[]} rows
   * @param {string} mode
   */
  async function ask(rows, mode) {
    const asked = version;
    const query = new URLSearchParams({ rows: rows.join(","), mode });
    const at = standingAt();
    if (at !== null) query.set("at", at);
    const answer = await fetch(`nodes.json?${query}`).catch(() => null);
    if (!answer?.ok) return;
    const { nodes } = await answer.json();
    if (asked !== version) return;
    for (const facts of nodes) known.set(facts.row, facts);
    then();
  }
}
