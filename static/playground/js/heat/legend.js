// What the cells' looks mean, always in sight: the same colours and the same bands as the cells themselves.
import { colourOf } from "./draw.js";
import { legendOf } from "./words.js";

/**
 * @param {HTMLElement} holder
 * @param {import("./data.js").Cells} cells
 * @param {import("./draw.js").Palette} palette
 */
export function showLegend(holder, cells, palette) {
  const items = legendOf(cells).map(({ kind, band, text, count }) => {
    const item = document.createElement("span");
    const mark = document.createElement("i");
    mark.className = kind;
    if (kind === "band") mark.style.background = colourOf(palette, band, cells.labels.length);
    const number = document.createElement("b");
    number.textContent = count.toLocaleString("en");
    item.append(mark, text, " ", number);
    return item;
  });
  holder.replaceChildren(...items);
}
