// What an element is about: an object, an extension point, a plugin, or many objects at once.
import { standingAt } from "../shared/standing.js";

/**
 * @typedef {object} Subject
 * @property {string} kind The object's kind, or Point, Plugin, Claim, Controller.
 * @property {string} namespace
 * @property {string} name
 * @property {string[]} [plugins] Of a point.
 * @property {string} [point] Where a plugin is seen.
 * @property {string} [many] Which objects of the kind are meant; `name` says so in words then.
 * @property {string} [sheet] The sheet of the menu that is seen first.
 */

const OBJECTS = ["object", "pod", "node", "claim", "controller", "plugin"];
export const NAMED = [
  "[data-menu]",
  ...OBJECTS.map((name) => `[data-${name}]:not([data-${name}=""])`),
  ".point",
]
  .join(", ");

/** @type {Record<string, string>} */
const KINDS = {
  pod: "Pod",
  node: "Node",
  claim: "Claim",
  point: "Point",
  plugin: "Plugin",
  controller: "Controller",
};

/**
 * What an element with one of these marks is about.
 * @param {HTMLElement} element
 * @returns {Subject}
 */
export function subjectOf(element) {
  if (element.matches(".point") && !element.dataset.menu) {
    const stop = element.querySelector(".stop");
    if (stop instanceof HTMLElement) return pointAt(stop);
  }
  const { menu, of = "", many, sheet, object } = element.dataset;
  if (menu === "point") return pointAt(element);
  if (many) return { kind: menu ?? "Node", namespace: "", name: of, many };
  if (menu) return { ...named(menu, of), sheet };
  if (object) return written(object);
  const field = OBJECTS.find((name) => element.dataset[name]) ?? "pod";
  return named(field, element.dataset[field] ?? "", element);
}

/** @param {HTMLElement} stop */
function pointAt(stop) {
  const around = [...(stop.parentElement ?? stop).querySelectorAll("[data-plugin]")];
  const plugins = around.map((element) => element.getAttribute("data-plugin") ?? "");
  return { kind: "Point", namespace: "", name: stop.dataset.of ?? "", plugins };
}

/**
 * @param {string} field
 * @param {string} name namespace/name for what has a namespace.
 * @param {HTMLElement} [element]
 * @returns {Subject}
 */
function named(field, name, element) {
  const kind = KINDS[field] ?? field;
  if (field === "controller" && name.includes("/")) return written(name);
  if (field === "plugin") {
    const place = element?.closest("[data-point]");
    return { kind, namespace: "", name, point: place?.getAttribute("data-point") ?? undefined };
  }
  const slash = name.indexOf("/");
  return { kind, namespace: name.slice(0, Math.max(slash, 0)), name: name.slice(slash + 1) };
}

/**
 * @param {string} object Kind/namespace/name, or Kind/name.
 * @returns {Subject}
 */
function written(object) {
  const parts = object.split("/");
  return { kind: parts[0], namespace: parts.length > 2 ? parts[1] : "", name: parts.at(-1) ?? "" };
}

/**
 * A subject as an address's query.
 * @param {Subject} subject
 */
export function queryOf({ kind, namespace, name, plugins = [], point, many }) {
  const query = new URLSearchParams({ kind, namespace, name });
  plugins.forEach((plugin) => query.append("plugin", plugin));
  if (point) query.set("point", point);
  if (many) query.set("many", many);
  const at = standingAt();
  if (at !== null) query.set("at", at);
  return query;
}
