// A button at the end of each heading of the large map, whose menu acts on all nodes of the group.
import { headingsOf, MENU } from "./draw.js";

const LINE = 17; // from a button's top to the baseline beside it

const holder = document.getElementById("heat-groups");

/**
 * Shows the buttons where the headings are now. Nodes that are not grouped have none.
 * @param {import("./draw.js").Scene} scene
 * @param {import("./data.js").Groups} groups
 */
export function showGroupMenus(scene, groups) {
  const key = document.getElementById("panel-map")?.dataset.group ?? "-";
  if (!holder) return;
  const seen = key === "-" || !groups.values.length ? [] : headingsOf(scene);
  while (holder.children.length > seen.length) holder.lastElementChild?.remove();
  for (const [i, { heading, right, at }] of seen.entries()) {
    const button = /** @type {HTMLButtonElement} */ (holder.children[i] ?? holder.appendChild(made()));
    const name = (holder.dataset.named ?? "").replace("{n}", heading.count.toLocaleString("en"))
      .replace("{name}", heading.text);
    const many = `label:${key}=${groups.values[heading.code] ?? ""}`;
    if (button.dataset.many !== many || button.dataset.of !== name) {
      Object.assign(button.dataset, { menu: "Node", many, of: name });
      button.ariaLabel = (holder.dataset.act ?? "").replace("{name}", name);
    }
    button.style.left = `${Math.round(Math.min(right, scene.size.width) - MENU)}px`;
    button.style.top = `${Math.round(at - LINE)}px`;
  }
}

function made() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "group-act";
  button.textContent = "⋯";
  button.ariaHasPopup = "menu";
  return button;
}
