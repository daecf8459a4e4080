// Terms: what a label means is said in a tooltip: where a pointer rests on it, while its link has the focus, and where a finger taps it or, in a
// link or button, rests on it.
// A dialog says it of all terms on the page, so that no label has to be a stop of the Tab key.
import { listenPress } from "../menu/press.js";
import { all, around, by, maybe, the } from "../shared/dom.js";

/** @typedef {{title: string, text: string, sources: string[], docs: string}} Term What the server says of it, in the page's language. */

const LABEL = ".term[data-term]";
const CONTROL = "a, button, summary, label";
const CONTROLLED = `:is(${CONTROL}) ${LABEL}`;
const REST = 450; // milliseconds until a tooltip shows
const LEAVE = 250; // milliseconds in which a pointer may go over to it
const EDGE = 8;

const tip = by("term-tip");
/** @type {Record<string, Term>} */
let terms = {};
/** @type {Promise<void> | undefined} */
let asked;
let timer = 0;
/** @type {HTMLElement | undefined} The label whose tooltip is open. */
let shown;
/** @type {{element: HTMLElement, before: string | null} | undefined} */
let described;

export function listenTerms() {
  addEventListener("load", () => void load(), { once: true });
  document.addEventListener("mouseover", rest);
  document.addEventListener("mouseout", (event) => touches(event) && later(hide, LEAVE));
  document.addEventListener("focusin", focus);
  document.addEventListener("focusout", leave);
  document.addEventListener("keydown", hide);
  document.addEventListener("click", tap, true);
  listenPress(`${CONTROLLED}:not([data-menu] *)`, (label) => void show(label));
  document.addEventListener("pointerdown", (event) => around(event, "#term-tip") ?? hide());
  document.addEventListener("scroll", (event) => event.target !== tip && follow(), true);
}

/** Opens the list of the terms that are on the page now. */
export async function showTermsHere() {
  await load();
  const names = new Set(all("[data-term]").filter(isSeen).map(({ dataset }) => dataset.term ?? ""));
  const entry = the("term-entry", HTMLTemplateElement).content;
  by("terms-here-list").replaceChildren(
    ...[...names].filter((name) => terms[name]).map((name) => {
      const copy = /** @type {DocumentFragment} */ (entry.cloneNode(true));
      fill(copy, terms[name]);
      return copy;
    }),
  );
  maybe("terms-here", HTMLDialogElement)?.showModal();
}

/** A point's tooltip has its term. */
const isSeen = (/** @type {HTMLElement} */ label) => (label.closest(".point") ?? label).checkVisibility();

/** The words are asked for once. */
function load() {
  asked ??= fetch(tip.dataset.from ?? "").then(async (answer) => {
    terms = answer.ok ? await answer.json() : {};
  }).catch(() => {
    asked = undefined;
  });
  return asked;
}

/** @param {Event} event */
const touches = (event) => around(event, LABEL) ?? around(event, "#term-tip");

/**
 * @param {() => void} act
 * @param {number} milliseconds
 */
function later(act, milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(act, milliseconds);
}

/** @param {MouseEvent} event */
function rest(event) {
  const label = around(event, LABEL);
  if (label) later(() => void show(label), REST);
  else if (around(event, "#term-tip")) clearTimeout(timer);
}

/** A link or button that has a term in it is described by its words. */
function focus(/** @type {FocusEvent} */ { target }) {
  if (!(target instanceof HTMLElement) || !target.matches(":focus-visible")) return;
  const label = target.closest(LABEL) ?? target.querySelector(LABEL);
  const term = label instanceof HTMLElement && terms[label.dataset.term ?? ""];
  if (!term) return;
  fill(tip, term);
  described = { element: target, before: target.getAttribute("aria-describedby") };
  target.setAttribute("aria-describedby", `${described.before ?? ""} term-tip-text`.trim());
  later(() => void show(label), REST);
}

function leave() {
  if (described?.before) described.element.setAttribute("aria-describedby", described.before);
  else described?.element.removeAttribute("aria-describedby");
  described = undefined;
  hide();
}

/** A finger taps the label where nothing else would happen. */
function tap(/** @type {MouseEvent} */ event) {
  const label = around(event, LABEL);
  if (!label || !(event instanceof PointerEvent) || event.pointerType !== "touch") return;
  if (label.closest(CONTROL)) return;
  event.preventDefault();
  event.stopPropagation();
  void show(label);
}

/** @param {HTMLElement} label */
async function show(label) {
  await load();
  const term = terms[label.dataset.term ?? ""];
  if (!term || !label.isConnected) return;
  fill(tip, term);
  const more = /** @type {HTMLAnchorElement} */ (tip.querySelector("a"));
  more.hash = slug(label.dataset.term ?? "");
  shown = label;
  tip.showPopover();
  place(label.getBoundingClientRect());
}

/** What scrolls takes the tooltip along with its label. */
function follow() {
  if (shown?.isConnected) place(shown.getBoundingClientRect());
  else hide();
}

/** As Django makes it. */
const slug = (/** @type {string} */ name) => name.toLowerCase().replace(/\s+/g, "-");

/**
 * Below the label, or above it, and always on the screen.
 * @param {DOMRect} label
 */
function place(label) {
  const { width, height } = tip.getBoundingClientRect();
  const below = label.bottom + EDGE;
  const above = label.top - height - EDGE;
  const top = below + height <= innerHeight - EDGE ? below : above;
  tip.style.left = `${within(label.left, innerWidth - width)}px`;
  tip.style.top = `${within(top, innerHeight - height)}px`;
}

/**
 * @param {number} at
 * @param {number} most
 */
const within = (at, most) => Math.max(EDGE, Math.min(at, most - EDGE));

function hide() {
  clearTimeout(timer);
  shown = undefined;
  if (tip.matches(":popover-open")) tip.hidePopover();
}

/**
 * @param {HTMLElement | DocumentFragment} place
 * @param {Term} term
 */
function fill(place, { title, text, sources, docs }) {
  const part = (/** @type {string} */ name) => place.querySelector(`[data-part=${name}]`);
  part("title")?.replaceChildren(title);
  part("text")?.replaceChildren(text);
  part("docs")?.replaceChildren(docs);
  part("sources")?.replaceChildren(...sources.map((source) => {
    const item = document.createElement("li");
    item.textContent = source;
    return item;
  }));
}
