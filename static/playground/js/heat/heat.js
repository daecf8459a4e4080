// The heat map of a large cluster: a canvas, one square a node, grouped by any label. Hover, focus and click tell a node.
import { token } from "./theme.js";
import { hideTip, showTip } from "./tips.js";

const holder = document.getElementById("heat-holder");
const canvas = document.getElementById("heat");
const says = document.getElementById("heat-says");
const GAP = 2;
const HEADING = 20;

let names = { order: "", list: [] };
let groups = null;
let cells = null;
let layout = null;
let cursor = -1;
let width = 0;
let shown = [];
let openNode = () => {};

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Says what a click on a node does. */
export function listenHeat(open) {
  openNode = open;
}

/** Reads what the panel brought and draws it; hides the canvas where the cluster is small. */
export async function drawHeat() {
  const data = document.getElementById("map-heat");
  holder.hidden = !data;
  if (!data) return;
  const grouping = document.getElementById("map-groups");
  if (shown[0] === data && shown[1] === grouping) return;
  const rearranged = shown[1]?.dataset.codes !== grouping.dataset.codes ||
    shown[1]?.dataset.values !== grouping.dataset.values;
  shown = [data, grouping];
  const by = grouping.dataset;
  groups = {
    codes: bytes(by.codes),
    values: by.values ? by.values.split("\n") : [],
    none: by.none,
    all: by.all,
    order: by.order,
  };
  const d = data.dataset;
  cells = {
    mode: d.mode,
    state: bytes(d.state),
    value: bytes(d.value),
    reason: bytes(d.reason),
    reasons: d.reasons ? d.reasons.split("\n") : [],
    scores: d.scores ? d.scores.split(" ").map(Number) : null,
    chosen: d.chosen,
    words: d,
  };
  // Asking for the width makes the browser lay the page out; the observer tells it when it changes.
  width ||= holder.clientWidth;
  if (rearranged || !layout) arrange();
  draw();
  legend();
  if (names.order !== groups.order) await loadNames(groups.order);
}

async function loadNames(order) {
  const at = new URLSearchParams(location.search).get("at");
  const response = await fetch(`nodes.json${at === null ? "" : `?at=${at}`}`).catch(() => null);
  if (!response?.ok) return;
  names = { order, list: (await response.json()).names };
  draw();
}

/** Puts each node on its square: groups one under the other, rows of squares as wide as the canvas. */
function arrange() {
  const n = cells.state.length;
  const side = Math.max(6, Math.min(16, Math.floor(Math.sqrt((width * 240) / Math.max(n, 1))) - GAP));
  const columns = Math.max(1, Math.floor((width + GAP) / (side + GAP)));
  const count = groups.values.length + 1;
  const members = Array.from({ length: count }, () => []);
  for (let i = 0; i < n; i++) members[groups.codes[i]].push(i);
  const place = new Int32Array(n * 2);
  const headings = [];
  const order = [];
  let y = 0;
  members.forEach((rows, g) => {
    if (!rows.length) return;
    const name = groups.values.length ? (groups.values[g] ?? groups.none) : groups.all;
    headings.push({ text: `${name}`, count: rows.length, y: y + 13 });
    y += HEADING;
    rows.forEach((row, k) => {
      place[row * 2] = (k % columns) * (side + GAP);
      place[row * 2 + 1] = y + Math.floor(k / columns) * (side + GAP);
      order.push(row);
    });
    y += Math.ceil(rows.length / columns) * (side + GAP) + 7;
  });
  layout = { place, side, columns, headings, order, width, height: y };
}

function colours() {
  const t = token;
  return {
    plain: t("--line"),
    ok: t("--ok-mark"),
    no: t("--no-mark"),
    best: t("--best-mark"),
    here: t("--accent"),
    soft: t("--soft"),
    ink: t("--ink"),
    mute: t("--mute"),
    value: t("--accent"),
  };
}

function draw() {
  if (!cells || !layout) return;
  const ratio = devicePixelRatio || 1;
  const { place, side, headings, width, height } = layout;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  const c = colours();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = `600 11.5px ${token("--sans")}`;
  for (const { text, count, y } of headings) {
    pen.fillStyle = c.ink;
    pen.fillText(text, 0, y);
    pen.fillStyle = c.mute;
    pen.fillText(String(count), pen.measureText(text).width + 8, y);
  }
  const heat = cells.mode !== "filter";
  const buckets = new Map();
  for (let i = 0; i < cells.state.length; i++) {
    const key = cells.state[i] * 256 + (heat ? cells.value[i] >> 3 : 0);
    (buckets.get(key) ?? buckets.set(key, []).get(key)).push(i);
  }
  for (const [key, rows] of buckets) {
    const state = key >> 8;
    const value = ((key & 255) << 3) / 255;
    pen.globalAlpha = 1;
    pen.fillStyle = c.soft;
    if (!heat) {
      pen.fillStyle = [c.plain, c.ok, c.no, c.best, c.here][state] ?? c.plain;
      pen.globalAlpha = state === 2 ? 0.5 : 1;
    } else if (cells.mode === "utilisation" || state === 1 || state >= 3) {
      for (const i of rows) pen.fillRect(place[i * 2], place[i * 2 + 1], side, side);
      pen.fillStyle = c.value;
      pen.globalAlpha = cells.mode === "score" ? 0.12 + 0.88 * value : value;
    }
    for (const i of rows) pen.fillRect(place[i * 2], place[i * 2 + 1], side, side);
    pen.globalAlpha = 1;
    if (heat && state >= 3) rows.forEach((i) => ring(pen, i, state === 4 ? c.ok : c.best));
    if (!heat && state === 4) rows.forEach((i) => ring(pen, i, c.ink));
  }
  const chosen = cells.chosen ? names.list.indexOf(cells.chosen) : -1;
  if (chosen >= 0) ring(pen, chosen, c.ink);
  if (cursor >= 0 && cursor < cells.state.length) ring(pen, cursor, c.ink);
}

function ring(pen, i, colour) {
  const { place, side } = layout;
  pen.lineWidth = 2;
  pen.strokeStyle = colour;
  pen.strokeRect(place[i * 2] - 1, place[i * 2 + 1] - 1, side + 2, side + 2);
}

function wordsOf(i) {
  const w = cells.words;
  const state = cells.state[i];
  const lines = [names.order === groups.order ? (names.list[i] ?? "") : "…"];
  if (state === 2) lines.push(cells.reasons[cells.reason[i]] ?? "");
  else lines.push(state === 4 ? w.here : state === 3 ? w.best : state === 1 ? w.ok : w.unseen);
  if (cells.mode === "score" && cells.scores && (state === 1 || state >= 3)) {
    lines.push(
      `≈ ${Math.round(cells.scores[0] + (cells.value[i] / 255) * (cells.scores[1] - cells.scores[0]))}`,
    );
  }
  if (cells.mode === "utilisation") lines.push(`${Math.round((cells.value[i] / 255) * 100)} % ${w.used}`);
  return lines.filter(Boolean);
}

function legend() {
  const w = cells.words;
  const pairs = cells.mode === "filter"
    ? [["--ok-mark", w.ok], ["--no-mark", w.no], ["--best-mark", w.best], ["--accent", w.here]]
    : cells.mode === "score" && cells.scores
    ? [["--accent-soft", String(cells.scores[0])], ["--accent", String(cells.scores[1])], [
      "--best-mark",
      w.best,
    ], ["--ok-mark", w.here]]
    : [];
  says.replaceChildren(
    ...pairs.filter(([, text]) => text).map(([colour, text]) => {
      const item = document.createElement("span");
      const mark = document.createElement("i");
      mark.style.background = token(colour);
      item.append(mark, text);
      return item;
    }),
  );
}

function at(event) {
  if (!layout) return -1;
  const box = canvas.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const { place, side } = layout;
  for (let i = 0; i < cells.state.length; i++) {
    const dx = x - place[i * 2];
    const dy = y - place[i * 2 + 1];
    if (dx >= 0 && dy >= 0 && dx < side + GAP && dy < side + GAP) return i;
  }
  return -1;
}

function point(i, speak = false) {
  if (i === cursor && !speak) return;
  cursor = i;
  draw();
  if (i < 0) return hideTip();
  const box = canvas.getBoundingClientRect();
  const words = wordsOf(i);
  showTip(
    words.join("\n"),
    box.left + layout.place[i * 2] + layout.side / 2,
    box.top + layout.place[i * 2 + 1],
  );
  if (speak) {
    const name = document.createElement("b");
    name.textContent = words[0];
    says.replaceChildren(name, ` ${words.slice(1).join(", ")}`);
  }
}

canvas.addEventListener("mousemove", (event) => point(at(event)));
canvas.addEventListener("mouseleave", () => {
  point(-1);
  legend();
});
canvas.addEventListener("click", (event) => {
  const i = at(event);
  if (i >= 0 && names.list[i]) openNode(names.list[i]);
});
canvas.addEventListener("blur", () => {
  if (cells) {
    point(-1);
    legend();
  }
});
canvas.addEventListener("keydown", (event) => {
  if (!layout || !layout.order.length) return;
  const k = Math.max(0, layout.order.indexOf(cursor));
  const step =
    { ArrowRight: 1, ArrowLeft: -1, ArrowDown: layout.columns, ArrowUp: -layout.columns }[event.key];
  if (step) {
    const next = cursor < 0 ? 0 : Math.max(0, Math.min(layout.order.length - 1, k + step));
    point(layout.order[next], true);
    event.preventDefault();
  } else if (event.key === "Enter" && cursor >= 0 && names.list[cursor]) {
    openNode(names.list[cursor]);
  }
});
new ResizeObserver(([entry]) => {
  width = Math.floor(entry.contentRect.width);
  if (!cells || !width || layout?.width === width) return;
  arrange();
  draw();
}).observe(holder);
document.documentElement.addEventListener("themechange", () => {
  draw();
  if (cells) legend();
});
