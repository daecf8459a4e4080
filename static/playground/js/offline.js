// The player of a replay in one file. It stands inside of the file, so it imports nothing.

/** @typedef {{pictures: number[][], shown: number[]}} Recorded A panel: its pictures as numbers of pieces, and which of them each step shows. */
/** @typedef {{positions: number[], pieces: string[], panels: Record<string, Recorded>}} Film */

const PLAYED = 400; // ms a step
const slider = /** @type {HTMLInputElement} */ (document.getElementById("slider"));
const play = /** @type {HTMLElement} */ (document.querySelector("[data-go=play]"));

const head = new Intl.NumberFormat(document.documentElement.lang).format(Number(document.body.dataset.head));
const film = await read();
/** @type {Record<string, number>} */
const painted = {};
let at = 0;
let timer = 0;

/** @returns {Promise<Film>} */
function read() {
  const text = document.getElementById("film")?.textContent ?? "";
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/**
 * Shows the step with this number among those of the file.
 * @param {number} wanted
 */
function show(wanted) {
  at = Math.max(0, Math.min(wanted, film.positions.length - 1));
  for (const [name, { pictures, shown }] of Object.entries(film.panels)) {
    if (painted[name] === shown[at]) continue;
    painted[name] = shown[at];
    paint(name, pictures[shown[at]].map((piece) => film.pieces[piece]).join(""));
  }
  for (const place of document.querySelectorAll(".of-head")) place.textContent = ` / ${head}`;
  const { stage, form, map } = document.getElementById("panel-stage")?.dataset ?? {};
  Object.assign(document.getElementById("stage")?.dataset ?? {}, { stage, form, map });
  slider.value = String(film.positions[at]);
  document.body.dataset.at = slider.value;
  if (at === film.positions.length - 1) pause();
}

/**
 * @param {string} name
 * @param {string} html
 */
function paint(name, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const link of template.content.querySelectorAll("a[href]")) link.removeAttribute("href");
  document.getElementById(`panel-${name}`)?.replaceWith(template.content);
}

function pause() {
  clearInterval(timer);
  timer = 0;
  play.ariaPressed = "false";
}

/** @type {Record<string, () => void>} */
const actions = {
  first: () => show(0),
  back: () => show(at - 1),
  next: () => show(at + 1),
  last: () => show(film.positions.length - 1),
  play() {
    if (timer) return pause();
    timer = setInterval(() => show(at + 1), PLAYED);
    play.ariaPressed = "true";
  },
};
/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", " ": "play" };

document.addEventListener("click", ({ target }) => {
  const go = target instanceof Element && target.closest("[data-go]");
  if (go instanceof HTMLElement) actions[go.dataset.go ?? ""]();
});
document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, altKey, metaKey } = event;
  const isTaken = target === slider || (key === " " && target instanceof HTMLButtonElement);
  if (isTaken || ctrlKey || altKey || metaKey || !KEYS[key]) return;
  event.preventDefault();
  actions[KEYS[key]]();
});
slider.addEventListener("input", () => show(film.positions.indexOf(Number(slider.value))));
show(Math.max(0, film.positions.indexOf(Number(location.hash.slice(1)))));
