// The large map in words: what a node's tooltip says, and what the colours mean.
import { BEST, HERE, NO, NONE, OK, UNSEEN } from "./data.js";

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
export function legendOf({ state, value, labels, words }) {
  const heat = value.length > 0;
  const states = new Int32Array(HERE + 1);
  const bands = new Int32Array(NONE + 1);
  for (let node = 0; node < state.length; node++) {
    const band = heat ? value[node] : NONE;
    if (band === NONE) states[heat && state[node] !== NO ? UNSEEN : state[node]]++;
    else bands[band]++;
  }
  /** @type {[kind: string, state: number, text: string | undefined][]} */
  const kinds = [["ok", OK, words.ok], ["best", BEST, words.best], ["here", HERE, words.here], [
    "no",
    NO,
    words.no,
  ], [
    "unseen",
    UNSEEN,
    heat ? words.without : words.unseen,
  ]];
  return [
    ...labels.map((text, band) => ({ kind: "band", band, text, count: bands[band] })),
    ...kinds.filter(([, of]) => states[of]).map(([kind, of, text = ""]) => ({
      kind,
      band: NONE,
      text,
      count: states[of],
    })),
  ];
}
