// What this viewer looks at: tab, pod, node, grouping, page. It lives in the URL, so that a link shows the same thing. Its fields and their
// rules are declared in playground/presenters/look.py; the page brings the declaration along.
import { by } from "../shared/dom.js";

/**
 * @typedef {object} Field
 * @property {"number" | "text"} type
 * @property {string | number | null} default
 * @property {string} [resets] Another field, which goes back to its default when this one is set.
 * @property {Sets[]} [sets] Other fields, which take a value when this one is set, unless the same link sets them.
 * @property {Record<string, Record<string, string>>} [moved] Words of older links, with the other fields that say the same now.
 */

/**
 * @typedef {object} Sets
 * @property {string} name
 * @property {string} value
 * @property {string[]} [keeps] What the page may show of the field instead: it stays then.
 */

/** @typedef {{at: number | null, stage: string} & Record<string, string | number | null>} Look */

/** @type {Map<string, Field>} */
const FIELDS = new Map(Object.entries(JSON.parse(by("look-fields").textContent ?? "")));

/**
 * What a look is where nothing else is said: the defaults, and what the fields that are there set. The first of them has the last word.
 * @param {(name: string) => unknown} given
 * @returns {Look}
 */
function implied(given) {
  const look =
    /** @type {Look} */ (Object.fromEntries([...FIELDS].map(([name, field]) => [name, field.default])));
  const there = [...FIELDS].reverse().filter(([name]) => given(name));
  for (const other of there.flatMap(([, field]) => field.sets ?? [])) look[other.name] = other.value;
  return look;
}

/**
 * The look that a URL's query asks for.
 * @param {string} query
 */
export function readLook(query) {
  const asked = new URLSearchParams(query);
  const look = implied((name) => asked.get(name));
  for (const [name, field] of FIELDS) {
    Object.assign(look, field.moved?.[asked.get(name) ?? ""]);
  }
  for (const [name, value] of asked) {
    const field = FIELDS.get(name);
    if (field?.moved?.[value]) continue;
    if (field?.type === "text") look[name] = value;
    else if (field && /^\d+$/.test(value)) look[name] = Number(value);
  }
  return look;
}

/**
 * The query of a look, with what differs from what is shown otherwise.
 * @param {Look} look
 */
export function writeLook(look) {
  const query = new URLSearchParams();
  const rest = implied((name) => look[name]);
  for (const name of FIELDS.keys()) {
    if (look[name] !== rest[name] && look[name] !== null) query.set(name, String(look[name]));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/**
 * What a link with data attributes changes about the look; null where it says nothing of a look. Where the viewer stands is for the
 * server to say: a link leads to another position by data-goto.
 * @param {DOMStringMap} data
 * @returns {Partial<Look> | null}
 */
export function patchOf(data) {
  const named = [...FIELDS].filter(([name]) => name !== "at" && data[name] !== undefined);
  if (!named.length) return null;
  /** @type {Partial<Look>} */
  const patch = {};
  for (const [name, { resets, sets }] of named) {
    if (resets) patch[resets] = FIELDS.get(resets)?.default;
    for (const other of (data[name] && sets) || []) {
      if (!other.keeps?.includes(shown(other.name) ?? "")) patch[other.name] = other.value;
    }
  }
  for (const [name, field] of named) patch[name] = valueOf(field, data[name] ?? "");
  return patch;
}

/**
 * What the stage shows of a field, whether it was asked for or follows something.
 * @param {string} name
 */
const shown = (name) => document.getElementById("panel-stage")?.dataset[name];

/**
 * A choice that leaves the stage as it is: of a node, where the stage was aimed at what was chosen before; of a field, where the stage
 * follows the step at hand or is about that pod.
 * @param {Partial<Look>} changes
 * @param {Look} look
 * @returns {Partial<Look>}
 */
export function staying(changes, look) {
  if (changes.field && (!look.stage || (changes.pod && changes.pod === shown("about")))) {
    const { stage: _, ...others } = changes;
    return others;
  }
  const aimed = look.stage === FIELDS.get("node")?.sets?.find(({ name }) => name === "stage")?.value;
  return aimed && changes.node && changes.stage === undefined
    ? { ...changes, stage: shown("stage") }
    : changes;
}

/**
 * What a field for the reader changes about the look; null where it is none of a look's.
 * @param {HTMLInputElement | HTMLSelectElement} field
 */
export function filterOf({ dataset, value }) {
  return dataset.look === undefined ? null : patchOf({ [dataset.look]: value.trim() });
}

/**
 * @param {Field} field
 * @param {string} text
 */
function valueOf(field, text) {
  if (field.type === "text") return text;
  return text === "" ? field.default : Number(text);
}
