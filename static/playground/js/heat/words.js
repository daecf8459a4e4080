// The large map in words: what a node's tooltip says, and what the colours mean.
import { BEST, HERE, NO, NONE, OK } from "./data.js";

/** @typedef {import("./data.js").Cells} Cells */

const GLYPHS = { [HERE]: "◆", [BEST]: "★", [OK]: "✓" };

/**
 * A node's verdict with its glyph; kube's words where it was refused.
 * @param {Cells} cells
 * @param {number} node
 */
export function verdictOf({ state, reason, reasons, words }, node) {
  if (state[node] === NO) return reasons[reason[node]] ?? `✕ ${words.no}`;
  const word = wordOf(state[node], words);
  return word && `${GLYPHS[/** @type {1} */ (state[node])] ?? "–"} ${word}`;
}

/**
 * What is said of a node, below its name.
 * @param {Cells} cells
 * @param {number} node
 * @param {string} [value] As exact as it is known.
 */
export function wordsOf(cells, node, value = "") {
  const { mode, labels } = cells;
  const band = cells.value[node];
  const measured = cells.value.length ? (value || (band === NONE ? "" : labels[band])) : value;
  return [verdictOf(cells, node), measured && cells.value.length ? `${mode}: ${measured}` : measured].filter(
    Boolean,
  );
}

/**
 * @param {number} state
 * @param {DOMStringMap} words
 */
function wordOf(state, { here, best, ok, unseen = "" }) {
  return { [HERE]: here, [BEST]: best, [OK]: ok }[state] ?? unseen;
}

/**
 * What each look of a cell means, of those that are on the map: its kind (a verdict, or a band's number) and the words for it.
 * @param {Cells} cells
 * @returns {{kind: string, band: number, text: string, count: number}[]}
 */
export function legendOf(cells) {
  const { state, value, labels, words } = cells;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (let node = 0; node < state.length; node++) {
    const kind = kindOf(state[node], value.length ? value[node] : NONE, value.length > 0);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const bands = labels.map((text, band) => ({
    kind: "band",
    band,
    text,
    count: counts.get(`band ${band}`) ?? 0,
  }));
  const kinds = [["ok", words.ok], ["best", words.best], ["here", words.here], ["no", words.no], [
    "unseen",
    value.length ? words.without : words.unseen,
  ]];
  const others = kinds.map(([kind, text]) => ({
    kind: kind ?? "",
    band: NONE,
    text: text ?? "",
    count: counts.get(kind ?? "") ?? 0,
  }));
  return [...bands, ...others.filter(({ count }) => count)];
}

/**
 * @param {number} state
 * @param {number} band
 * @param {boolean} heat
 */
function kindOf(state, band, heat) {
  if (band !== NONE) return `band ${band}`;
  if (state === NO) return "no";
  if (heat) return "unseen";
  return { [OK]: "ok", [BEST]: "best", [HERE]: "here" }[state] ?? "unseen";
}
