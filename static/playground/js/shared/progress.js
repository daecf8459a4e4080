// How far lessons have come in this browser: of each, the furthest card. Nothing of it leaves the browser.
const KEPT = "lessons";
const SHOWN = "shown";

/** @returns {Record<string, number>} */
export const progress = () => read(KEPT);

/**
 * The cards of each lesson whose answers were shown, and not given since.
 * @returns {Record<string, number[]>}
 */
export const shownAnswers = () => read(SHOWN);

/**
 * @param {string} what
 */
function read(what) {
  try {
    const kept = JSON.parse(localStorage.getItem(what) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {}; // storage that is closed, or holds something else
  }
}

/**
 * @param {string} slug
 * @param {number} card
 */
export function reach(slug, card) {
  const kept = progress();
  if ((kept[slug] ?? 0) < card) write(KEPT, { ...kept, [slug]: card });
}

/**
 * An answer was shown, which is not known yet; or given.
 * @param {string} slug
 * @param {number} card
 * @param {boolean} shown
 */
export function keepShown(slug, card, shown) {
  const kept = shownAnswers();
  const others = (kept[slug] ?? []).filter((each) => each !== card);
  write(SHOWN, { ...kept, [slug]: shown ? [...others, card] : others });
}

/**
 * @param {string} what
 * @param {object} kept
 */
function write(what, kept) {
  try {
    localStorage.setItem(what, JSON.stringify(kept));
  } catch {
    // a browser that keeps nothing
  }
}
