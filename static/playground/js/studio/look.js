// What this viewer looks at: tab, pod, node, grouping, page. It lives in the URL, so that a link shows the same thing. Its fields and their
// rules are declared in playground/presenters/look.py; the page brings the declaration along.
import { by, first } from "../shared/dom.js";

/**
 * @typedef {object} Field
 * @property {"number" | "text"} type
 * @property {string | number | null} default
 * @property {string} [resets] Another field, which goes back to its default when this one is set.
 * @property {Opens} [opens]
 */

/**
 * @typedef {object} Opens The tab that a link opens which sets the field and names no tab.
 * @property {string} tab
 * @property {string} from Only from this tab; or "": wherever nothing on the page is marked data-shows-<field>.
 */

/** @typedef {{at: number | null, tab: string} & Record<string, string | number | null>} Look */

/** @type {Record<string, Field>} */
const FIELDS = JSON.parse(by("look-fields").textContent ?? "");

/** A link leads to another position by data-goto: where the viewer stands is for the server to say. */
const LINKED = Object.entries(FIELDS).filter(([name]) => name !== "at");

/** The look that shows what everybody is shown first. */
const defaults = () => /** @type {Look} */ (Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, field.default]),
));

/**
 * The look that a URL's query asks for.
 * @param {string} query
 */
export function readLook(query) {
  const look = defaults();
  for (const [name, value] of new URLSearchParams(query)) {
    const field = FIELDS[name];
    if (field?.type === "text") look[name] = value;
    else if (field && /^\d+$/.test(value)) look[name] = Number(value);
  }
  return look;
}

/**
 * The query of a look, with what differs from the default.
 * @param {Look} look
 */
export function writeLook(look) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(look)) {
    if (value !== FIELDS[name].default && value !== null) query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/**
 * What a link with data attributes changes about the look; null where it says nothing of a look.
 * @param {DOMStringMap} data
 * @param {Look} look
 * @returns {Partial<Look> | null}
 */
export function patchOf(data, look) {
  const named = LINKED.filter(([name]) => data[name] !== undefined);
  if (!named.length) return null;
  /** @type {Partial<Look>} */
  const patch = {};
  for (const [name, { resets, opens }] of named) {
    if (resets) patch[resets] = FIELDS[resets].default;
    if (opens && (opens.from ? look.tab === opens.from : !first(`[data-shows-${name}]`))) {
      patch.tab = opens.tab;
    }
  }
  for (const [name, field] of named) patch[name] = valueOf(field, data[name] ?? "");
  return patch;
}

/**
 * What a field for the reader changes about the look; null where it is none of a look's.
 * @param {HTMLInputElement | HTMLSelectElement} field
 */
export function filterOf({ dataset, value }) {
  return dataset.look === undefined ? null : patchOf({ [dataset.look]: value.trim() }, defaults());
}

/**
 * @param {Field} field
 * @param {string} text
 */
function valueOf(field, text) {
  if (field.type === "text") return text;
  return text === "" ? field.default : Number(text);
}
