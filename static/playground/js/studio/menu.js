// The menu on a pod, a node or an extension point: break here, go to where something last happened to it, or act on it.
import { all, around, by, first } from "../shared/dom.js";
import { openInDrawer } from "../shared/drawer.js";

const EDGE = 6;
const NAMED = "[data-menu], [data-pod], [data-node], .point";

/** @typedef {{kind: string, name: string, plugins?: string[]}} Subject What a menu is about: a pod, a node or a point. */
/** @typedef {Record<string, string>} Point A breakpoint by its fields. */
/** @typedef {(back: boolean, point: Point) => unknown} Seek */
/** @typedef {(text: string) => void} Say */

const menu = by("menu");
/** @type {HTMLElement | null} */
let opener = null;
/** @type {Subject} */
let subject = { kind: "", name: "" };

const items = () => all("[role=menuitem]", menu).filter((item) => item.offsetParent);

/**
 * What an element is about, nearest first; null where it is about nothing that has a menu.
 * @param {HTMLElement | null} element
 * @returns {Subject | null}
 */
export function about(element) {
  if (!element) return null;
  if (element.matches(".point")) return about(first(".stop", element));
  const { menu: kind, of = "", pod, node } = element.dataset;
  if (kind === "point") return { kind, name: of, plugins: pluginsAt(element) };
  if (kind) return { kind, name: of };
  if (pod) return { kind: "pod", name: pod };
  return node ? { kind: "node", name: node } : null;
}

/** @param {HTMLElement} stop */
function pluginsAt(stop) {
  return all("[data-plugin]", stop.parentElement ?? stop).map(({ dataset }) => dataset.plugin ?? "");
}

/**
 * @param {Subject} about
 * @param {HTMLElement} element Where the focus goes back to.
 * @param {number} x
 * @param {number} y
 */
function open(about, element, x, y) {
  opener = element;
  subject = about;
  by("menu-title").textContent = about.name;
  all("[data-for]", menu).forEach((part) => (part.hidden = part.dataset.for !== about.kind));
  offerPlugins(about.plugins ?? []);
  menu.hidden = false;
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - box.width - EDGE))}px`;
  menu.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - box.height - EDGE))}px`;
  items()[0]?.focus();
}

/**
 * One item for each plugin of the point, made after the pattern that stays hidden.
 * @param {string[]} plugins
 */
function offerPlugins(plugins) {
  all("[data-made]", menu).forEach((item) => item.remove());
  const pattern = first("[data-each]", menu);
  if (!pattern) return;
  pattern.hidden = true;
  for (const plugin of plugins) {
    const item = /** @type {HTMLElement} */ (pattern.cloneNode(true));
    item.hidden = false;
    item.removeAttribute("data-each");
    item.dataset.made = "";
    item.dataset.plugin = plugin;
    item.textContent = wordsOf(pattern).replace("%p", plugin);
    pattern.parentElement?.append(item);
  }
}

function close(refocus = true) {
  if (menu.hidden) return;
  menu.hidden = true;
  if (refocus) opener?.focus();
}

/** @param {HTMLElement} element */
const wordsOf = (element) => (element.textContent ?? "").trim();

/**
 * The breakpoint that an item stands for.
 * @param {HTMLElement} item
 * @returns {Point}
 */
function pointOf({ dataset: { point = "{}", plugin = "" } }) {
  /** @type {Record<string, string>} */
  const named = { "%s": subject.name, "%p": plugin };
  const fields = Object.entries(JSON.parse(point));
  return Object.fromEntries(fields.map(([name, value]) => [name, named[value] ?? value]));
}

/** The subject as an object of a kind: pods are named namespace/name. */
function objectOf(/** @type {string} */ kind) {
  const parts = subject.name.split("/");
  return { kind, namespace: parts.length > 1 ? parts[0] : "", name: parts.at(-1) ?? "" };
}

/**
 * Sends a form in the menu's name; `done` is called if it was carried out.
 * @param {string} path
 * @param {Record<string, string>} values
 * @param {() => void} done
 */
function post(path, values, done) {
  const listen = (/** @type {CustomEvent<HtmxRequest>} */ { detail }) => detail.xhr.status < 300 && done();
  menu.addEventListener("htmx:afterRequest", listen, { once: true });
  htmx.ajax("POST", location.pathname + path, { source: menu, swap: "none", values });
}

/**
 * Does what an item is for.
 * @param {HTMLElement} item
 * @param {Seek} seek
 * @param {Say} say
 */
function choose(item, seek, say) {
  const { yaml, delete: deleted, calls, more, commands, seek: direction } = item.dataset;
  const drawer = (/** @type {string} */ page, /** @type {Record<string, string>} */ query) =>
    openInDrawer(`${page}?${new URLSearchParams(query)}`);
  if (yaml) drawer("yaml", objectOf(yaml));
  else if (deleted) deleteIt(deleted, say);
  else if (calls !== undefined) drawer("calls", { pod: subject.name });
  else if (more !== undefined) drawer("breakpoints", { [subject.kind]: subject.name });
  else if (commands !== undefined) drawer("commands", { q: objectOf("").name });
  else if (direction) seek(direction === "back", pointOf(item));
  else breakAt(item, say);
}

/**
 * Deletes the subject as `kubectl delete` does; in the past the answer asks whether to fork, and is shown in the drawer.
 * @param {string} kind
 * @param {Say} say
 */
function deleteIt(kind, say) {
  const { name } = subject;
  const at = new URLSearchParams(location.search).get("at") ?? "";
  const words = menu.dataset.deleted ?? "";
  post("objects/delete", { ...objectOf(kind), at }, () => say(words.replace("%s", name)));
}

/**
 * @param {HTMLElement} item
 * @param {Say} say
 */
function breakAt(item, say) {
  const words = menu.dataset.set ?? "";
  const what = `${subject.name} · ${wordsOf(item)}`;
  post("breakpoints", pointOf(item), () => say(words.replace("%s", what)));
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const choices = items();
  const i = choices.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: choices.length - 1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") close();
  else if (next !== undefined) choices.at(next % choices.length)?.focus();
  if (next !== undefined || event.key === "Escape") event.preventDefault();
  event.stopPropagation();
}

/** @param {MouseEvent} event */
function rightClicked(event) {
  const named = around(event, "main") && around(event, NAMED);
  const target = about(named);
  if (!named || !target) return;
  event.preventDefault();
  const box = named.getBoundingClientRect();
  const focus = around(event, "a, button") ?? named;
  open(target, focus, event.clientX || box.left, event.clientY || box.bottom);
}

/**
 * Opens the menu of what an element is about, or is in, below it; false where that has none.
 * @param {Element | null} element
 */
export function openMenuFor(element) {
  const named = /** @type {HTMLElement | null} */ (element?.closest(NAMED) ?? null);
  const target = about(named);
  if (!named || !target) return false;
  const box = named.getBoundingClientRect();
  open(target, named, box.left, box.bottom + EDGE);
  return true;
}

/** @param {MouseEvent} event */
function clicked(event) {
  const named = around(event, "[data-menu]");
  const target = about(named);
  if (named && target && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    event.stopPropagation();
    const box = named.getBoundingClientRect();
    open(target, named, box.left, box.bottom + 4);
  } else if (!around(event, "#menu")) close(false);
}

/**
 * Listens to right clicks and to what has a menu.
 * @param {Seek} seek Searches for where a breakpoint holds.
 * @param {Say} say
 */
export function listenMenu(seek, say) {
  document.addEventListener("contextmenu", rightClicked);
  document.addEventListener("click", clicked, true);
  menu.addEventListener("keydown", pressed);
  menu.addEventListener("click", (event) => {
    const item = around(event, "[role=menuitem]");
    if (!item) return;
    close();
    choose(item, seek, say);
  });
}
