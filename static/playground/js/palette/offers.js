// What the palette offers: the page's own actions, pages, extension points and stages, found objects, and what can be done to those.
import { queryOf, subjectOf } from "../menu/subject.js";
import { all, by, maybe, the } from "../shared/dom.js";
import { standingAt } from "../shared/standing.js";

const MOST_ACTED = 2; // objects whose actions are offered beside them

/**
 * @typedef {object} Offer
 * @property {string} id What it is remembered by.
 * @property {"subject" | "do" | "go" | "show"} group
 * @property {string} label
 * @property {string} [hint]
 * @property {string} [key]
 * @property {string} [lights] The elements that are lit up before one says yes.
 * @property {string} [complete] What to go on writing with, where it can't be done yet.
 * @property {boolean} [momentary] It is not offered again as a recent one.
 * @property {() => unknown} run
 */

/**
 * @typedef {object} Means How offers are carried out.
 * @property {Record<string, import("../studio/actions.js").Act>} actions
 * @property {(changes: DOMStringMap) => unknown} look
 * @property {(entry: import("../menu/entry.js").Entry) => unknown} carryOut
 */

/** @typedef {{kind: "pod" | "node" | "claim" | "controller", name: string}} Found */

/**
 * @typedef {object} Phrase
 * @property {string} label
 * @property {string} [hint]
 * @property {string} [complete]
 * @property {import("../menu/entry.js").Entry} [entry]
 * @property {number} [at]
 * @property {string} [start]
 */

/** The palette's words in its reader's language. */
const words = () => by("palette-list").dataset;

/** @param {Element} element */
const textOf = (element) => (element.textContent ?? "").replace(/\s+/g, " ").trim();

/**
 * What is on the page already.
 * @param {Means} means
 * @returns {Offer[]}
 */
export function pageOffers(means) {
  return [...actionOffers(means), ...pointOffers(), ...pageLinks()];
}

/**
 * @param {Means} means
 * @returns {Offer[]}
 */
function actionOffers({ actions, look }) {
  const items = all("li", the("palette-actions", HTMLTemplateElement).content);
  return items.map((item) => {
    const { do: name = "", arg, key, show } = item.dataset;
    const label = textOf(item);
    if (show) {
      return {
        id: `stage ${show}`,
        group: "show",
        label,
        hint: words().stage,
        run: () => look({ stage: show }),
      };
    }
    const rest = arg === undefined ? [] : [Number(arg) || arg];
    return { id: `do ${name} ${arg ?? ""}`, group: "do", label, key, run: () => actions[name]?.(...rest) };
  });
}

/** @returns {Offer[]} Extension points that the present attempt has been at. */
function pointOffers() {
  return all("#points a.stop").map((link) => ({
    id: `point ${link.dataset.of}`,
    group: "go",
    label: link.dataset.of ?? "",
    hint: words().point,
    lights: `#points [data-of="${CSS.escape(link.dataset.of ?? "")}"]`,
    run: () => link.click(),
  }));
}

/** @returns {Offer[]} The pages of the menus, the tabs of the inspector, and the forms of the stage. */
function pageLinks() {
  return all(".more-items a, #panel-inspector .tabs a, #stage .forms a").map((link) => ({
    id: `page ${link.getAttribute("href")}`,
    group: "go",
    label: textOf(link),
    hint: words().page,
    run: () => link.click(),
  }));
}

/**
 * Objects whose name has the last word in it, and what the words before ask to be done to the first of them.
 * @param {string} text
 * @param {Means} means
 * @returns {Promise<Offer[]>}
 */
export async function objectOffers(text, means) {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  const q = parts.at(-1) ?? "";
  if (!q) return [];
  const { names, phrases } = await read(`names.json?${withPlace({ q, say: text })}`) ??
    { names: [], phrases: [] };
  /** @type {Found[]} */
  const found = names;
  const objects = parts.length === 1 ? found.map((one) => objectOffer(one, means)) : [];
  const acted = found.filter(({ kind }) => kind === "pod" || kind === "node").slice(
    0,
    parts.length > 1 ? 3 * MOST_ACTED : MOST_ACTED,
  );
  const acts = await Promise.all(acted.map((one) => actsOn(one, parts.slice(0, -1), means)));
  return [...phrases.map((/** @type {Phrase} */ one) => phraseOffer(one, means)), ...acts.flat(), ...objects];
}

/**
 * A sentence that is carried out, or goes on (playground/workbench/phrases.py).
 * @param {Phrase} phrase
 * @param {Means} means
 * @returns {Offer}
 */
function phraseOffer({ label, hint, complete, entry, at, start }, { carryOut, actions }) {
  const run = () => {
    if (entry) carryOut(entry);
    else if (at !== undefined) actions.goto(at);
    else if (start) begin(start);
  };
  return { id: `phrase ${label}`, group: "do", label, hint, complete, momentary: true, run };
}

/**
 * Starts a lesson, as the first page does.
 * @param {string} lesson
 */
function begin(lesson) {
  const form = the("lesson-start", HTMLFormElement);
  form.append(
    Object.assign(document.createElement("input"), { type: "hidden", name: "start", value: lesson }),
  );
  form.submit();
}

/**
 * @param {Found} found
 * @param {Means} means
 * @returns {Offer}
 */
function objectOffer({ kind, name }, { look }) {
  return {
    id: `${kind} ${name}`,
    group: "show",
    label: name.replace(/^default\//, ""),
    hint: words()[kind],
    lights: litBy(kind, name),
    run: () => look({ [kind]: name }),
  };
}

/**
 * What can be done to an object, of which only what the words ask for.
 * @param {Found} found
 * @param {string[]} verbs
 * @param {Means} means
 * @returns {Promise<Offer[]>}
 */
async function actsOn({ kind, name }, verbs, { carryOut }) {
  if (!verbs.length) return [];
  const own = name.split("/").pop() ?? "";
  const namespace = name.includes("/") ? name.split("/")[0] : "";
  const query = withPlace({ kind: kind === "pod" ? "Pod" : "Node", namespace, name: own });
  const entries = await entriesOf(query);
  return entries
    .filter(({ label }) => verbs.every((verb) => label.toLowerCase().includes(verb)))
    .map(({ label, entry }) => ({
      id: `act ${name} ${label}`,
      group: "do",
      label: `${label} ${own}`,
      hint: words()[kind],
      lights: litBy(kind, name),
      momentary: true,
      run: () => carryOut(entry),
    }));
}

/**
 * What can be done to what the inspector is about.
 * @param {Means} means
 * @returns {Promise<Offer[]>}
 */
export async function subjectOffers({ carryOut }) {
  const button = maybe("act", HTMLElement);
  if (!button) return [];
  const subject = subjectOf(button);
  const entries = await entriesOf(queryOf(subject));
  return entries.map(({ label, entry }) => ({
    id: `subject ${label}`,
    group: "subject",
    label,
    hint: subject.name,
    lights: "#inspected",
    momentary: true,
    run: () => carryOut(entry),
  }));
}

/**
 * The entries of a menu, of all its sheets.
 * @param {URLSearchParams} query
 */
async function entriesOf(query) {
  const answer = await fetch(`menu?${query}`).catch(() => null);
  if (!answer?.ok) return [];
  const menu = new DOMParser().parseFromString(await answer.text(), "text/html");
  return all("[role=menuitem][data-entry]", menu).map((item) => ({
    label: textOf(first(item)),
    entry: JSON.parse(item.dataset.entry ?? "{}"),
  }));
}

/**
 * An entry's words without its key.
 * @param {HTMLElement} item
 */
function first(item) {
  item.querySelectorAll("kbd").forEach((key) => key.remove());
  return item;
}

/**
 * @param {string} kind
 * @param {string} name
 */
const litBy = (kind, name) =>
  `:is(main, #points) [data-${kind}="${CSS.escape(name)}"], #node-${CSS.escape(name)}`;

/**
 * A query for where the viewer stands.
 * @param {Record<string, string>} fields
 */
function withPlace(fields) {
  const at = standingAt();
  return new URLSearchParams(at === null ? fields : { ...fields, at });
}

/** @param {string} url */
async function read(url) {
  const answer = await fetch(url).catch(() => null);
  return answer?.ok ? answer.json() : null;
}
