// A question of a classroom: its form for students, and the answers as bars in a table.
import { by } from "../shared/dom.js";

/**
 * @typedef {object} Poll What stands on the screens (docs/classroom.md).
 * @property {number} number
 * @property {string} kind
 * @property {"open" | "closed" | "revealed"} state
 * @property {Record<string, string>} ask
 * @property {Record<string, string>} [situation] The text of the lesson's card.
 * @property {string[]} options
 * @property {number} places
 * @property {number | null} answered
 * @property {[string, number, boolean | null][]} [counts]
 * @property {string | string[] | null} [key]
 * @property {{why: string, text: string | Record<string, string>, count: number, given: string[]}[]} [groups]
 * @property {Record<string, {right?: string, wrong?: string}>} [said]
 */

/** @type {Record<string, string>} */
const WORDS = JSON.parse(by("words").textContent ?? "{}");

/**
 * A sentence of the page, with its values.
 * @param {string} name
 * @param {Record<string, string | number>} values
 */
export function say(name, values = {}) {
  return (WORDS[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

/**
 * An element with a text or children.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * What a text is in the language of the page.
 * @template T
 * @param {Record<string, T>} texts
 * @returns {T | undefined}
 */
const inLanguage = (texts) => texts[document.documentElement.lang] ?? Object.values(texts)[0];

/**
 * An answer as people read it.
 * @param {Poll} poll
 * @param {string} given
 */
const shown = (poll, given) => poll.kind === "yesno" ? say(given) : given;

/**
 * The card's situation, and the question under it.
 * @param {Poll} poll
 */
export function heading(poll) {
  const situation = (inLanguage(poll.situation ?? {}) ?? "").trim();
  const paragraphs = situation.split("\n\n").filter(Boolean).map((part) => make("p", {}, ...rich(part)));
  return make(
    "header",
    {},
    ...(situation ? [make("div", { class: "situation" }, ...paragraphs)] : []),
    make("h2", { id: "poll-h" }, ...rich(inLanguage(poll.ask) ?? "")),
  );
}

/**
 * A lesson's text: code between backticks, strong words between two asterisks.
 * @param {string} text
 */
const rich = (text) =>
  text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.length > 2 && part.startsWith("`")) return make("code", {}, part.slice(1, -1));
    return part.startsWith("**") && part.length > 4 ? make("b", {}, part.slice(2, -2)) : part;
  });

/**
 * The form of an open question.
 * @param {Poll} poll
 * @param {string} before What this student has answered.
 * @param {(given: string[]) => void} answer
 */
export function form(poll, before, answer) {
  const fields = make(
    "fieldset",
    { "data-kind": poll.kind },
    make("legend", { class: "vh" }, (inLanguage(poll.ask) ?? "").replaceAll("`", "")),
  );
  if (poll.kind === "number") {
    fields.append(
      make(
        "label",
        {},
        say("number"),
        make("input", { name: "answer", inputmode: "decimal", value: before, maxlength: "20" }),
      ),
    );
  } else if (poll.kind === "order") {
    for (let place = 0; place < poll.places; place++) {
      fields.append(choice(poll, place, before.split(", ")[place]));
    }
  } else {
    const chosen = poll.kind === "victims" ? before.split(", ") : [before];
    for (const option of poll.options) fields.append(box(poll, option, chosen.includes(option)));
  }
  const whole = make("form", {}, fields, make("button", { class: "primary" }, say("answer")));
  whole.addEventListener("submit", (event) => {
    event.preventDefault();
    if (whole instanceof HTMLFormElement) answer(new FormData(whole).getAll("answer").map(String));
  });
  return whole;
}

/**
 * @param {Poll} poll
 * @param {number} place
 * @param {string} [before]
 */
function choice(poll, place, before) {
  const select = make("select", { name: "answer" }, make("option", { value: "" }, "–"));
  for (const option of poll.options) {
    select.append(
      make("option", option === before ? { value: option, selected: "" } : { value: option }, option),
    );
  }
  return make("label", { class: "option" }, `${place + 1}. `, select);
}

/**
 * @param {Poll} poll
 * @param {string} option
 * @param {boolean} checked
 */
function box(poll, option, checked) {
  const type = poll.kind === "victims" ? "checkbox" : "radio";
  const input = make("input", { type, name: "answer", value: option, ...(checked ? { checked: "" } : {}) });
  return make("label", { class: "option" }, input, make("span", {}, shown(poll, option)));
}

/**
 * The answers as bars, each with its number, and the wrong ones by their reasons.
 * @param {Poll} poll
 * @returns {HTMLElement[]}
 */
export function chart(poll) {
  const counts = new Map((poll.counts ?? []).map(([given, count]) => [given, count]));
  const right = new Map((poll.counts ?? []).map(([given, , is]) => [given, is]));
  const told = poll.state === "revealed"; // a desk may stand on a projector
  const key = !told ? null : Array.isArray(poll.key) ? poll.key.join(", ") : poll.key;
  const single = !["number", "victims", "order"].includes(poll.kind);
  const rows = single ? poll.options : [...counts.keys()];
  const most = Math.max(1, ...counts.values());
  const body = make("tbody");
  for (const given of rows) {
    const count = counts.get(given) ?? 0;
    const is = told && (right.get(given) || given === key);
    const name = make(
      "th",
      { scope: "row" },
      shown(poll, given),
      ...(is ? [make("span", { class: "is-right" }, ` ✓ ${say("right")}`)] : []),
    );
    body.append(
      make(
        "tr",
        is ? { class: "key" } : {},
        name,
        make("td", {}, bar(count / most)),
        make("td", { class: "count" }, String(count)),
      ),
    );
  }
  const found = [
    make(
      "table",
      { class: "answers" },
      make("caption", {}, say("answers", { count: poll.answered ?? 0 })),
      body,
    ),
  ];
  if (key && !rows.includes(key)) found.push(make("p", {}, say("key", { text: key })));
  return poll.groups?.length ? [...found, reasons(poll)] : found;
}

/** @param {number} share */
function bar(share) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  const rect = document.createElementNS(namespace, "rect");
  rect.setAttribute("width", `${share * 100}%`);
  rect.setAttribute("height", "100%");
  svg.setAttribute("aria-hidden", "true");
  svg.append(rect);
  return svg;
}

/** @param {Poll} poll */
function reasons(poll) {
  const list = make("ul", { class: "reasons" });
  for (const { why, text, count, given } of poll.groups ?? []) {
    const names = given.map((each) => shown(poll, each)).join(", ");
    list.append(
      make(
        "li",
        {},
        make("b", {}, `${count} ×`),
        typeof text === "string" ? ` ${say(`why-${why}`, { text })} ` : ` ${inLanguage(text)} `,
        make("span", { class: "mute" }, `(${names})`),
      ),
    );
  }
  const told = poll.groups?.some(({ why }) => why !== "high" && why !== "low");
  return make("section", {}, ...(told ? [make("h3", {}, say("wrong-why"))] : []), list);
}

/**
 * What a student is told of their own answer once all is revealed.
 * @param {Poll} poll
 * @param {string} [given]
 */
export function verdict(poll, given) {
  if (!given) return make("p");
  const is = poll.counts?.find(([each]) => each === given)?.[2] ?? null;
  const said = inLanguage(poll.said ?? {});
  const words = is === null ? "" : is ? said?.right || say("yours-right") : said?.wrong || say("yours-wrong");
  return make(
    "p",
    { class: is === null ? "" : is ? "good" : "bad" },
    `${say("was", { text: shown(poll, given) })} `,
    ...rich(words),
  );
}
