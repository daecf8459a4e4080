// The nodes' names, fetched once for each order of them.
import { standingAt } from "../shared/standing.js";

/** @type {{order: string, list: string[]}} */
let names = { order: "", list: [] };

/**
 * The names of this order; none where they are not known yet.
 * @param {string | undefined} order
 */
export const namesOf = (order) => names.order === order ? names.list : [];

/** @param {string} order */
export async function loadNames(order) {
  if (names.order === order) return false;
  const at = standingAt();
  const answer = await fetch(`nodes.json${at === null ? "" : `?at=${at}`}`).catch(() => null);
  if (!answer?.ok) return false;
  names = { order, list: (await answer.json()).names };
  return true;
}
