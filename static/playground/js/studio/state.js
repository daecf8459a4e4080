// What the page knows of its session: what its viewer looks at, which step it shows, and what is going on.
import { readLook } from "./look.js";

/**
 * @typedef {object} Running What drives the session (docs/stream.md).
 * @property {string} kind
 * @property {number} done
 * @property {number} rate
 * @property {number | null} total
 * @property {number | null} left
 * @property {string} until
 */

/**
 * @typedef {object} Searching How far this viewer's search has come.
 * @property {boolean} back
 * @property {number} scanned
 * @property {number} of
 */

/**
 * @typedef {object} State
 * @property {boolean} [walks] A step by plugin is under way: where it makes a dry run, the first record of that is shown.
 * @property {import("./look.js").Look} look
 * @property {number} seen The position that the page shows.
 * @property {number} head
 * @property {Running | null} running
 * @property {Searching | null} searching
 * @property {boolean} mayEdit
 */

/**
 * The state that the server rendered the page for.
 * @returns {State}
 */
export function readState() {
  const { seen, head, running, mayEdit } = document.body.dataset;
  return {
    look: readLook(location.search),
    seen: Number(seen),
    head: Number(head),
    running: running ? JSON.parse(running) : null,
    searching: null,
    mayEdit: mayEdit === "1",
  };
}
