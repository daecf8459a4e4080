// What of the map is seen: how much it is enlarged, and where its corner is. Pure arithmetic; nothing here draws.

const MOST = 40;
export const EDGE = 10; // around the map
const CARD = 110; // so large are the cells of what was zoomed to, where there is room
const ROOM_ABOVE = 30; // for a group's heading

/** @typedef {{scale: number, x: number, y: number}} View The map's place that is in the corner. */
/** @typedef {{width: number, height: number}} Size */
/** @typedef {import("./arrange.js").Layout} Layout */

/** @type {Readonly<View>} */
export const WHOLE = { scale: 1, x: 0, y: 0 };

/**
 * The view kept on the map.
 * @param {View} view
 * @param {Layout} layout
 * @param {Size} size
 * @returns {View}
 */
function kept({ scale, x, y }, layout, size) {
  const most = Math.max(1, Math.min(MOST, 320 / layout.pitch));
  const held = Math.max(1, Math.min(most, scale));
  const across = Math.max(0, layout.width - (size.width - 2 * EDGE) / held);
  const down = Math.max(0, layout.height - (size.height - 2 * EDGE) / held);
  return { scale: held, x: Math.max(0, Math.min(across, x)), y: Math.max(0, Math.min(down, y)) };
}

/**
 * Enlarged by a factor; what is at a place of the screen stays there.
 * @param {View} view
 * @param {Layout} layout
 * @param {Size} size
 * @param {number} factor
 * @param {number} px
 * @param {number} py
 */
export function zoomed(view, layout, size, factor, px, py) {
  const { scale } = kept({ ...view, scale: view.scale * factor }, layout, size);
  const shift = 1 / view.scale - 1 / scale;
  return kept({ scale, x: view.x + (px - EDGE) * shift, y: view.y + (py - EDGE) * shift }, layout, size);
}

/**
 * Moved by so many pixels of the screen.
 * @param {View} view
 * @param {Layout} layout
 * @param {Size} size
 * @param {number} dx
 * @param {number} dy
 */
export function panned(view, layout, size, dx, dy) {
  return kept({ ...view, x: view.x + dx / view.scale, y: view.y + dy / view.scale }, layout, size);
}

/**
 * So that these nodes fill it.
 * @param {Layout} layout
 * @param {Size} size
 * @param {number[]} nodes
 */
export function around(layout, size, nodes) {
  const { place, pitch } = layout;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const node of nodes) {
    left = Math.min(left, place[node * 2]);
    top = Math.min(top, place[node * 2 + 1]);
    right = Math.max(right, place[node * 2] + pitch);
    bottom = Math.max(bottom, place[node * 2 + 1] + pitch);
  }
  const fits = Math.min(
    (size.width - 2 * EDGE) / (right - left),
    (size.height - 2 * EDGE - ROOM_ABOVE) / (bottom - top),
  );
  const scale = Math.min(fits, nodes.length > 1 ? fits : CARD / pitch);
  const x = (left + right) / 2 - (size.width / 2 - EDGE) / scale;
  return kept({ scale, x, y: top - ROOM_ABOVE / scale }, layout, size);
}

/**
 * So that a node is seen; the same view where it is already.
 * @param {View} view
 * @param {Layout} layout
 * @param {Size} size
 * @param {number} node
 */
export function reaching(view, layout, size, node) {
  const [x, y] = layout.place.subarray(node * 2, node * 2 + 2);
  const left = (x - view.x) * view.scale + EDGE;
  const top = (y - view.y) * view.scale + EDGE;
  const side = layout.pitch * view.scale;
  if (left >= 0 && top >= 0 && left + side <= size.width && top + side <= size.height) return view;
  return panned(view, layout, size, left + side / 2 - size.width / 2, top + side / 2 - size.height / 2);
}
