// How far lessons have come in this browser: of each, the furthest card. Nothing of it leaves the browser.
const KEPT = "lessons";

/** @returns {Record<string, number>} */
export function progress() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
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
  if ((kept[slug] ?? 0) >= card) return;
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...kept, [slug]: card }));
  } catch {
    // a browser that keeps nothing
  }
}
