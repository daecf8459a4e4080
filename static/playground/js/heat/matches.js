// Which nodes the search means now, by name: for what acts on all of them.
import { all } from "../shared/dom.js";
import { isFound, readCells } from "./data.js";
import { loadNames, namesOf } from "./names.js";

/**
 * The names of the nodes that the search on the page means, of few nodes and of many; none where nothing is searched for.
 * @returns {Promise<string[]>}
 */
export async function matchingNodes() {
  const search = /** @type {HTMLInputElement | null} */ (document.getElementById("map-q"));
  const data = document.getElementById("map-heat");
  if (!data) {
    if (!search?.value.trim()) return [];
    return all("#panel-map .node:not(.dim) header a").map((link) => link.textContent?.trim() ?? "");
  }
  const cells = readCells(data.dataset);
  if (!cells.found) return [];
  const order = document.getElementById("map-groups")?.dataset.order;
  await loadNames(order ?? "");
  return namesOf(order).filter((_, node) => isFound(cells, node));
}
