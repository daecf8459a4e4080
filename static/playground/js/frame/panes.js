// Panes that can be resized: the rail's and the narrator's width, the lanes' height. What was chosen is remembered in this browser.
import { all, around, maybe } from "../shared/dom.js";

const KEPT = "panes";
const STEP = 16;

/**
 * @typedef {object} Pane
 * @property {string} property The custom property that CSS reads.
 * @property {"x" | "y"} axis
 * @property {1 | -1} grows Which way of the mouse makes it larger.
 * @property {number} least Below half of this a pane that folds is gone.
 * @property {() => number} most
 * @property {boolean} folds
 */

/** @type {Record<string, Pane>} */
const PANES = {
  rail: { property: "--rail", axis: "x", grows: 1, least: 160, most: () => innerWidth * .3, folds: true },
  talk: { property: "--talk", axis: "x", grows: -1, least: 260, most: () => innerWidth * .45, folds: false },
  lanes: { property: "--lanes", axis: "y", grows: -1, least: 90, most: () => innerHeight * .6, folds: false },
};

/** @returns {Record<string, number>} The sizes that were chosen, in pixels. */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

/**
 * @param {string} name
 * @param {number | null} size None: as the page has it.
 */
function keep(name, size) {
  const sizes = kept();
  if (size === null) delete sizes[name];
  else sizes[name] = size;
  try {
    localStorage.setItem(KEPT, JSON.stringify(sizes));
  } catch {
    // It holds for this page only.
  }
}

/**
 * A size that the pane may have; 0 where it is folded.
 * @param {Pane} pane
 * @param {number} size
 */
function allowed({ least, most, folds }, size) {
  if (folds && size < least / 2) return 0;
  return Math.round(Math.max(least, Math.min(most(), size)));
}

/**
 * @param {string} name
 * @param {number | null} size
 */
function resize(name, size) {
  const { property } = PANES[name];
  if (size === null) document.body.style.removeProperty(property);
  else document.body.style.setProperty(property, `${size}px`);
  if (name === "rail") document.body.toggleAttribute("data-folded", size === 0);
  showValue(name);
}

/** @param {string} name */
function showValue(name) {
  for (const grip of all(`[data-pane="${name}"]`)) {
    grip.setAttribute("aria-valuemax", String(Math.round(PANES[name].most())));
    grip.setAttribute("aria-valuenow", String(Math.round(sizeOf(grip))));
  }
}

/**
 * How large the pane of a grip is now.
 * @param {HTMLElement} grip
 */
function sizeOf(grip) {
  const box = maybe(grip.getAttribute("aria-controls") ?? "", HTMLElement)?.getBoundingClientRect();
  if (!box) return 0;
  return PANES[grip.dataset.pane ?? ""].axis === "x" ? box.width : box.height;
}

/**
 * @param {string} name
 * @param {number} size
 */
function choose(name, size) {
  const chosen = allowed(PANES[name], size);
  resize(name, chosen);
  keep(name, chosen);
  dispatchEvent(new Event("resize")); // canvases and charts take their new sizes
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const grip = around(event, ".grip");
  if (!grip) return;
  const name = grip.dataset.pane ?? "";
  const { axis, grows, least, most, folds } = PANES[name];
  const now = sizeOf(grip);
  const [less, more] = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  /** @type {Record<string, number>} */
  const sizes = {
    [less]: now - STEP * grows,
    [more]: now + STEP * grows,
    Home: folds ? 0 : least,
    End: most(),
    Enter: folds && now ? 0 : least,
  };
  const size = sizes[event.key];
  if (size === undefined) return;
  // A folded pane comes back with its least size, one with its least size folds.
  if (folds && event.key.startsWith("Arrow")) {
    choose(name, size > now ? Math.max(size, least) : size < least ? 0 : size);
  } else choose(name, size);
  event.preventDefault();
}

/** @param {PointerEvent} event */
function held(event) {
  const grip = around(event, ".grip");
  if (!grip || event.button) return;
  const name = grip.dataset.pane ?? "";
  const { axis, grows } = PANES[name];
  const along = (/** @type {PointerEvent} */ { clientX, clientY }) => axis === "x" ? clientX : clientY;
  const [began, size] = [along(event), sizeOf(grip)];
  const move = (/** @type {PointerEvent} */ to) => choose(name, size + (along(to) - began) * grows);
  grip.setPointerCapture(event.pointerId);
  grip.classList.add("held");
  grip.addEventListener("pointermove", move);
  grip.addEventListener("lostpointercapture", () => {
    grip.removeEventListener("pointermove", move);
    grip.classList.remove("held");
  }, { once: true });
}

/** @param {MouseEvent} event */
function reset(event) {
  const name = around(event, ".grip")?.dataset.pane;
  if (!name) return;
  keep(name, null);
  resize(name, null);
  dispatchEvent(new Event("resize"));
}

/** Folds the rail to nothing, or brings it back. */
export function foldRail() {
  if (document.body.hasAttribute("data-folded")) {
    keep("rail", null);
    resize("rail", null);
  } else choose("rail", 0);
}

/** Gives panes the sizes of before and listens to their grips. */
export function listenPanes() {
  for (const [name, size] of Object.entries(kept())) {
    if (PANES[name]) resize(name, allowed(PANES[name], size));
  }
  Object.keys(PANES).forEach(showValue);
  addEventListener("resize", () => Object.keys(PANES).forEach(showValue));
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", held);
  document.addEventListener("dblclick", reset);
}
