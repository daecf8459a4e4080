// The marks on the rail, which spans the whole session: where attempts ended, bookmarks, and where breakpoints held.
import { by } from "../shared/dom.js";
import { count } from "../shared/words.js";

const SVG = "http://www.w3.org/2000/svg";
const MIDDLE = 14; // of the rail, in pixels
const NEAR = 14; // pixels: marks of one kind that would overlap are one mark
const PAUSE = 700; // after the session has gone on
/** @type {Record<string, string>} What is drawn around a mark's place. */
const SHAPES = {
  bound: "M0-3.5a3.5 3.5 0 1 0 .01 0z",
  failed: "M-3.5-3.5l7 7m0-7l-7 7",
  preempts: "M0-5v9m-3.5-3.5l3.5 3.5 3.5-3.5",
  bookmark: "M-3.5-6h7v11l-3.5-3-3.5 3z",
  held: "M0-5.5l5 5.5-5 5.5-5-5.5z",
};

/** @typedef {{position: number, pod: string, scheduled: boolean, preempts: boolean}} End Where an attempt ended. */
/** @typedef {{kind: string, position: number, words: string, pod?: string, until?: number, times?: number, first?: string}} Mark
 * `pod`: whose preemption the mark leads to; `until`, `times`: of several marks in one. */
/** @typedef {import("../studio/marks.js").Bookmark} Bookmark */

/** @type {End[]} */
let ends = [];
/** @type {number | null} The head that the ends are known for. */
let known = null;
let timer = 0;
/** The rail's width, observed: to measure it at a step would lay the page out twice. */
let width = 0;

/**
 * Fetches where attempts ended, a moment after the session has gone on.
 * @param {number} head
 * @param {() => void} then
 */
export function fetchEnds(head, then) {
  if (known === head) return;
  clearTimeout(timer);
  timer = setTimeout(async () => {
    known = head;
    const answer = await fetch(`${location.pathname}ends.json`).catch(() => null);
    if (!answer?.ok) return; // The marks of before stay.
    ends = (await answer.json()).ends;
    then();
  }, PAUSE);
}

/**
 * Draws all marks anew where one of them is another one.
 * @param {number} head
 * @param {Bookmark[]} bookmarks
 * @param {number[]} held Where breakpoints held.
 */
export function showFlags(head, bookmarks, held) {
  const flags = by("flags");
  if (!width) {
    width = flags.clientWidth || 1000;
    new ResizeObserver(() => width = flags.clientWidth || 1000).observe(flags);
  }
  const marks = gather(marksOf(flags.dataset, bookmarks, held), head * NEAR / width);
  const key = JSON.stringify([head, marks]);
  if (flags.dataset.key === key) return;
  flags.dataset.key = key;
  flags.replaceChildren(...marks.map((mark, i) => flag(mark, head, i === 0, flags.dataset.step ?? "")));
}

/**
 * @param {DOMStringMap} words
 * @param {Bookmark[]} bookmarks
 * @param {number[]} held
 * @returns {Mark[]}
 */
function marksOf(words, bookmarks, held) {
  const marks = [
    ...ends.map(({ position, pod, scheduled, preempts }) => {
      const kind = preempts ? "preempts" : scheduled ? "bound" : "failed";
      const said = (words[kind] ?? "").replace("%s", pod.split("/").pop() ?? "");
      return { kind, position, words: said, ...(preempts ? { pod } : {}) };
    }),
    ...held.map((position) => ({ kind: "held", position, words: words.held ?? "" })),
    ...bookmarks.map(({ position, name }) => ({ kind: "bookmark", position, words: name })),
  ];
  return marks.sort((a, b) => a.position - b.position);
}

/**
 * Marks of one kind that follow each other too closely are one, as long as they reach.
 * @param {Mark[]} marks
 * @param {number} near The distance in steps.
 * @returns {Mark[]}
 */
function gather(marks, near) {
  /** @type {Mark[]} */
  const out = [];
  for (const mark of marks) {
    const last = out.at(-1);
    if (!last || last.kind !== mark.kind || mark.position - (last.until ?? last.position) >= near) {
      out.push({ ...mark });
    } else {Object.assign(last, {
        until: mark.position,
        times: (last.times ?? 1) + 1,
        words: `${last.first ?? last.words} … ${mark.words}`,
        first: last.first ?? last.words,
      });}
  }
  return out;
}

/**
 * @param {Mark} mark
 * @param {number} head
 * @param {boolean} isFirst The one that Tab reaches; arrow keys lead to the others.
 * @param {string} step "step %s"
 */
function flag({ kind, position, words, pod, until, times }, head, isFirst, step) {
  const title = svg("title");
  const steps = until ? `${count(position)}–${count(until)} (${times})` : count(position);
  title.textContent = `${words} · ${step.replace("%s", steps)}`;
  const x = `${(100 * position) / Math.max(head, 1)}%`;
  const place = svg("svg", { x, y: String(MIDDLE), overflow: "visible" });
  place.append(svg("circle", { r: "6.5", class: "ground" }), svg("path", { d: SHAPES[kind], class: kind }));
  const link = svg("a", {
    "href": `?at=${position}`,
    "data-goto": String(position),
    "aria-label": title.textContent,
    ...(pod ? { "data-pod": pod, "data-stage": "preemption" } : {}),
    ...(isFirst ? {} : { tabindex: "-1" }),
  });
  link.append(title);
  if (until) {
    const width = `${(100 * (until - position)) / Math.max(head, 1)}%`;
    link.append(svg("rect", { x, width, y: String(MIDDLE - 3), height: "6", class: kind }));
  }
  link.append(place);
  return link;
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 */
function svg(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
