// The position that the page stands at, for whatever asks the server about it.

/** @type {string | null | undefined} */
let standing;

/**
 * The page stands at a position now, or follows the newest step. The URL may say so a moment later.
 * @param {number | null} at
 */
export function standAt(at) {
  standing = at === null ? null : String(at);
}

/** The position, null where the page follows the newest step. Where nobody said, the URL does. */
export const standingAt = () =>
  standing === undefined ? new URLSearchParams(location.search).get("at") : standing;
