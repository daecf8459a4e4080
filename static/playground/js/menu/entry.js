// What an entry of a menu does (playground/workbench/actions/menu.py says what an entry is).
import { openInDrawer } from "../shared/drawer.js";
import { standingAt } from "../shared/standing.js";

/**
 * @typedef {object} Entry
 * @property {string} [page]
 * @property {string} [send]
 * @property {string} [seek]
 * @property {Record<string, string>} [fields]
 * @property {string} [said]
 */
/** @typedef {(back: boolean, point: Record<string, string>) => unknown} Seek */
/** @typedef {(text: string) => void} Say */

/**
 * @param {Entry} entry
 * @param {HTMLElement} source
 * @param {Seek} seek Searches for where a breakpoint holds.
 * @param {Say} say
 */
export function carryOut({ page, send, seek: way, fields = {}, said = "" }, source, seek, say) {
  if (page) openInDrawer(page);
  else if (way) seek(way === "back", fields);
  else if (send) post(send, fields, source, () => say(said));
}

/**
 * Sends a form in the menu's name; `done` is called if it was carried out.
 * @param {string} path
 * @param {Record<string, string>} values
 * @param {HTMLElement} source
 * @param {() => void} done
 */
function post(path, values, source, done) {
  const listen = (/** @type {CustomEvent<HtmxRequest>} */ { detail }) => detail.xhr.status < 300 && done();
  source.addEventListener("htmx:afterRequest", listen, { once: true });
  const at = standingAt();
  const standing = at !== null && !path.startsWith("breakpoints") ? { at } : {};
  htmx.ajax("POST", location.pathname + path, { source, swap: "none", values: { ...values, ...standing } });
}
