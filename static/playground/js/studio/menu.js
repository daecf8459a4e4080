// The menu on anything that can be acted on: by right click, by a long press, by a key, by a button of its own. What is in it comes from
// the server, which knows how the object stands.
import { carryOut } from "../menu/entry.js";
import { listenPress } from "../menu/press.js";
import { NAMED, queryOf, subjectOf } from "../menu/subject.js";
import { all, around, by, first } from "../shared/dom.js";

const EDGE = 6;

/** @typedef {import("../menu/subject.js").Subject} Subject */

const menu = by("menu");
/** @type {HTMLElement | null} */
let opener = null;
let asked = 0;

const items = () => all("[role=menuitem]", menu).filter((item) => item.offsetParent);

/**
 * Opens the menu of what an element is about, or is in; false where that has none.
 * @param {Element | null} element
 */
export function openMenuFor(element) {
  const named = element?.closest(NAMED);
  if (!named) return false;
  const box = named.getBoundingClientRect();
  open(/** @type {HTMLElement} */ (named), box.left, box.bottom + EDGE);
  return true;
}

/**
 * @param {HTMLElement} named
 * @param {number} x
 * @param {number} y
 * @param {HTMLElement} focus Where the focus goes back to.
 */
async function open(named, x, y, focus = named) {
  const subject = subjectOf(named);
  const turn = ++asked;
  const answer = await fetch(`menu?${queryOf(subject)}`).catch(() => null);
  if (turn !== asked || !answer?.ok) return;
  by("menu-items").innerHTML = await answer.text();
  opener = focus;
  by("menu-title").textContent = subject.name;
  by("menu-kind").textContent = [subject.many ? "" : subject.kind, subject.namespace].filter(Boolean).join(
    " · ",
  );
  menu.hidden = false;
  turnTo(subject.sheet);
  place(x, y);
}

/**
 * @param {number} x
 * @param {number} y
 */
function place(x, y) {
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - box.width - EDGE))}px`;
  menu.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - box.height - EDGE))}px`;
}

/**
 * Shows one sheet, and gives its first entry the focus.
 * @param {string | undefined} name
 */
function turnTo(name) {
  const sheets = all("[data-sheet]", menu);
  const shown = sheets.find((sheet) => sheet.dataset.sheet === name) ?? sheets[0];
  sheets.forEach((sheet) => (sheet.hidden = sheet !== shown));
  const box = menu.getBoundingClientRect();
  place(box.left, box.top);
  (items().find((item) => !item.matches(".back")) ?? items()[0])?.focus();
}

function close(refocus = true) {
  asked++;
  if (menu.hidden) return;
  menu.hidden = true;
  if (refocus) opener?.focus();
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey) return;
  const choices = items();
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const i = choices.indexOf(focused);
  const next = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: choices.length - 1 }[key];
  const lettered = choices.find((item) => item.getAttribute("aria-keyshortcuts") === key);
  const back = first(".back", menu)?.dataset.to;
  if (next !== undefined) choices.at(next % choices.length)?.focus();
  else if (lettered) lettered.click();
  else if (key === "ArrowRight" && focused.dataset.to) turnTo(focused.dataset.to);
  else if (key === "ArrowLeft") turnTo(back);
  else if (key === "Escape" || key === "Tab") close();
  if (key !== "Enter" && key !== " " && key !== "Tab") event.preventDefault();
  event.stopPropagation();
}

/** @param {MouseEvent} event */
function rightClicked(event) {
  const named = around(event, "main, #points") && around(event, NAMED);
  if (!named) return;
  event.preventDefault();
  const box = named.getBoundingClientRect();
  const focus = around(event, "a, button") ?? named;
  open(named, event.clientX || box.left, event.clientY || box.bottom, focus);
}

/** @param {MouseEvent} event */
function clicked(event) {
  const named = around(event, "[data-menu], [data-opens]");
  if (named && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    event.stopPropagation();
    openMenuFor(named);
  } else if (!around(event, "#menu")) close(false);
}

/**
 * Listens to what opens menus, and to their entries.
 * @param {import("../menu/entry.js").Seek} seek
 * @param {import("../menu/entry.js").Say} say
 */
export function listenMenu(seek, say) {
  document.addEventListener("contextmenu", rightClicked);
  document.addEventListener("click", clicked, true);
  listenPress(NAMED, (named, x, y) => open(named, x, y));
  menu.addEventListener("keydown", pressed);
  menu.addEventListener("click", (event) => {
    const item = around(event, "[role=menuitem]");
    if (!item) return;
    if (item.dataset.to) return turnTo(item.dataset.to);
    close();
    carryOut(JSON.parse(item.dataset.entry ?? "{}"), menu, seek, say);
  });
}
