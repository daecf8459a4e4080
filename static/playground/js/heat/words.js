// The heat map in words: what a node's tooltip says, and what the colours mean.
import { BEST, HERE, isFeasible, NO, OK } from "./data.js";

/** @typedef {import("./data.js").Cells} Cells */

/**
 * What is said of a node, below its name.
 * @param {Cells} cells
 * @param {number} node
 */
export function wordsOf(cells, node) {
  const { mode, scores, words } = cells;
  const state = cells.state[node];
  const part = cells.value[node] / 255;
  const lines = [state === NO ? cells.reasons[cells.reason[node]] : wordOf(state, words)];
  if (mode === "score" && scores && isFeasible(state)) {
    lines.push(`≈ ${Math.round(scores[0] + part * (scores[1] - scores[0]))}`);
  }
  if (mode === "utilisation") lines.push(`${Math.round(part * 100)} % ${words.used}`);
  return lines.filter(Boolean);
}

/**
 * @param {number} state
 * @param {DOMStringMap} words
 */
function wordOf(state, { here, best, ok, unseen }) {
  return { [HERE]: here, [BEST]: best, [OK]: ok }[state] ?? unseen;
}

/**
 * The colours' tokens with what each means.
 * @param {Cells} cells
 * @returns {[token: string, text: string][]}
 */
export function legendOf({ mode, scores, words }) {
  /** @type {[string, string | undefined][]} */
  let pairs = [];
  if (mode === "filter") {
    pairs = [["--ok-mark", words.ok], ["--no-mark", words.no], ["--wait-mark", words.best], [
      "--now",
      words.here,
    ]];
  } else if (mode === "score" && scores) {
    const [least, most] = scores.map(String);
    pairs = [["--now-soft", least], ["--now", most], ["--wait-mark", words.best], [
      "--ok-mark",
      words.here,
    ]];
  }
  return pairs.flatMap(([token, text]) => text ? [[token, text]] : []);
}
