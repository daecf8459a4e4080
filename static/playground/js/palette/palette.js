// The palette (Ctrl K): a dialog with a combobox that does, goes and shows. Tab lights up what an offer is about before one says yes.
import { all, around, by, the } from "../shared/dom.js";
import { count } from "../shared/words.js";
import { objectOffers, pageOffers, subjectOffers } from "./offers.js";
import { matching, recent, remember } from "./order.js";

const PAUSE = 120; // after the last letter that was typed
const GROUPS = /** @type {const} */ (["recent", "subject", "do", "go", "show"]);
const ASKED = /** @type {const} */ (["recent", "do", "subject", "go", "show"]); // their order once something is typed

/** @typedef {import("./offers.js").Offer} Offer */
/** @typedef {import("./offers.js").Means} Means */
/** @typedef {Map<string, Offer[]>} Grouped */

const dialog = the("palette", HTMLDialogElement);
const field = the("palette-q", HTMLInputElement);
const list = by("palette-list");

/** @type {Offer[]} As they are shown. */
let shown = [];
let chosen = 0;
let asked = 0;
let typing = 0;
/** @type {Means} */
let means;
/** @type {Offer[]} What can be done to what is chosen. */
let onSubject = [];

/** Opens the palette, empty. */
export function openPalette() {
  if (dialog.open) return;
  field.value = "";
  dialog.showModal();
  field.focus();
  onSubject = [];
  show(grouped(offered(), ""));
  askOfSubject();
}

async function askOfSubject() {
  const offers = await subjectOffers(means);
  if (!dialog.open) return;
  const moved = chosen > 0 ? shown[chosen]?.id : "";
  onSubject = offers;
  typed();
  const place = shown.findIndex(({ id }) => id === moved);
  if (place >= 0) choose(place);
}

/** All that is offered without asking the server again. */
const offered = () => [...onSubject, ...pageOffers(means)];

/**
 * The offers by group; without a text what was chosen lately comes first.
 * @param {Offer[]} offers
 * @param {string} text
 * @returns {Grouped}
 */
function grouped(offers, text) {
  /** @type {Grouped} */
  const groups = new Map((text ? ASKED : GROUPS).map((name) => [name, []]));
  const lately = text ? [] : recent();
  for (const offer of text ? matching(offers, text) : offers) {
    const name = lately.includes(offer.id) ? "recent" : offer.group;
    groups.get(name)?.push(offer);
  }
  groups.get("recent")?.sort((a, b) => lately.indexOf(a.id) - lately.indexOf(b.id));
  return groups;
}

/** What the text asks for: at once what the page has, then objects from the server. */
function typed() {
  const text = field.value.trim();
  const turn = ++asked;
  const offers = offered();
  show(grouped(offers, text));
  clearTimeout(typing);
  if (!text) return;
  typing = setTimeout(async () => {
    const objects = await objectOffers(field.value.trimStart(), means);
    if (turn !== asked || !objects.length) return;
    const groups = grouped(offers, text);
    for (const name of GROUPS) {
      const own = objects.filter(({ group }) => group === name);
      groups.set(name, [...own, ...(groups.get(name) ?? [])]);
    }
    show(groups);
  }, PAUSE);
}

/** @param {Grouped} groups */
function show(groups) {
  unlight();
  shown = [...groups.values()].flat();
  chosen = 0;
  let i = 0;
  const parts = [...groups].filter(([, offers]) => offers.length).map(([name, offers]) => {
    const group = element("div", { "role": "group", "aria-labelledby": `palette-${name}` });
    group.append(element("p", { id: `palette-${name}`, class: "palette-group" }, list.dataset[name]));
    group.append(...offers.map((offer) => option(offer, i++)));
    return group;
  });
  list.replaceChildren(...parts);
  list.scrollTop = 0;
  by("palette-none").hidden = shown.length > 0;
  const says = by("palette-says");
  says.textContent = (says.dataset.found ?? "").replace("%s", count(shown.length));
  choose(0);
}

/**
 * @param {Offer} offer
 * @param {number} i
 */
function option({ label, hint, key, complete }, i) {
  const item = element("div", { "role": "option", "id": `palette-${i}`, "aria-selected": "false" });
  item.append(element("span", {}, label));
  if (hint) item.append(element("small", {}, hint));
  if (complete) item.append(element("kbd", {}, "…"));
  if (key) item.append(...key.split(" ").map((part) => element("kbd", {}, part)));
  return item;
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {string} [text]
 */
function element(name, attributes, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/** @param {number} i */
function choose(i) {
  if (!shown.length) return field.removeAttribute("aria-activedescendant");
  chosen = (i + shown.length) % shown.length;
  all("[role=option]", list).forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
  const item = by(`palette-${chosen}`);
  field.setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
  if (dialog.dataset.preview) light();
}

/** @param {Offer | undefined} offer */
function carryOut(offer) {
  if (!offer) return;
  if (offer.complete) {
    field.value = offer.complete;
    return typed();
  }
  dialog.close();
  remember(offer);
  offer.run();
}

/** Lights up on the page what the chosen offer is about. */
function light() {
  unlight();
  const { lights } = shown[chosen] ?? {};
  if (!lights) return;
  dialog.dataset.preview = "1";
  const lit = all(lights).map((each) => each.closest("tr, li, .node, .pod") ?? each);
  lit.forEach((each) => each.classList.add("lit"));
  lit[0]?.scrollIntoView({ block: "nearest" });
}

function unlight() {
  delete dialog.dataset.preview;
  all(".lit").forEach((each) => each.classList.remove("lit"));
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const { key } = event;
  const next = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + 8, PageUp: chosen - 8 }[key];
  if (next !== undefined) choose(next);
  else if (key === "Enter") carryOut(shown[chosen]);
  else if (key === "Tab" && !event.shiftKey) dialog.dataset.preview ? unlight() : light();
  else if (key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) dialog.close();
  else return;
  event.preventDefault();
}

/** @param {Means} given How offers are carried out. */
export function listenPalette(given) {
  means = given;
  by("palette-open").addEventListener("click", openPalette);
  by("palette-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", unlight);
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  field.addEventListener("input", typed);
  field.addEventListener("keydown", pressed);
  list.addEventListener("pointermove", (event) => {
    const item = around(event, "[role=option][aria-selected=false]");
    if (item) choose(Number(item.id.split("-")[1]));
  });
  list.addEventListener("click", (event) => {
    const item = around(event, "[role=option]");
    if (item) carryOut(shown[Number(item.id.split("-")[1])]);
  });
}
