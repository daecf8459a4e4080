// Which offers a text asks for, the likeliest first; and which ones were chosen lately.

/** @typedef {import("./offers.js").Offer} Offer */

const KEPT = "palette";
const MOST_RECENT = 6;
const MOST = 40;

/**
 * The offers that have every word in them: first those that begin with the text, then those in which a word begins with it.
 * @param {Offer[]} offers
 * @param {string} text
 */
export function matching(offers, text) {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  return offers
    .map((offer, i) => ({ offer, i, rank: rankOf(offer.label.toLowerCase(), parts) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((a, b) => a.rank - b.rank || a.i - b.i)
    .slice(0, MOST)
    .map(({ offer }) => offer);
}

/**
 * @param {string} label
 * @param {string[]} parts
 */
function rankOf(label, parts) {
  if (!parts.every((part) => label.includes(part))) return Infinity;
  if (label.startsWith(parts.join(" "))) return 0;
  return parts.every((part) => (` ${label}`).includes(` ${part}`)) ? 1 : 2;
}

/** @returns {string[]} What was chosen lately, the newest first. */
export function recent() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {Offer} offer */
export function remember({ id, momentary }) {
  if (momentary) return;
  try {
    localStorage.setItem(
      KEPT,
      JSON.stringify([id, ...recent().filter((other) => other !== id)].slice(0, MOST_RECENT)),
    );
  } catch {
    // It is offered in its place as before.
  }
}
