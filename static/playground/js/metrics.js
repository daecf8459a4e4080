// The charts of the metrics page. Their data comes with the part of the page that is swapped as the session moves; the plots stay.
import { all, first } from "./shared/dom.js";
import { onWidth, plotly } from "./shared/plotly.js";
import { onTheme, theme, token } from "./shared/theme.js";

const HEIGHT = 240;
const A_ROW = 21; // of a chart whose bars lie
const FRAME = 70;
const NAMES = .45; // of the width, at most
const A_LETTER = 8;

const page = first("[data-plotly]");
/** @type {Set<string>} */
const open = new Set();
/** @type {Map<string | undefined, HTMLElement>} */
const plots = new Map();
/** @type {WeakMap<HTMLElement, string>} What each plot shows. */
const drawn = new WeakMap();

/** @param {any} trace */
function coloured(trace) {
  const colour = token(trace.token);
  if (trace.type === "bar") return { ...trace, marker: { color: colour } };
  if (trace.type === "box") {
    return { ...trace, marker: { color: colour, size: 5 }, line: { color: colour, width: 2 } };
  }
  if (trace.mode?.includes("markers")) {
    return { ...trace, marker: { color: colour, size: 10 }, line: { color: colour } };
  }
  const fill = `color-mix(in srgb, ${colour} 45%, transparent)`;
  const filled = trace.stackgroup ? { fillcolor: fill } : {};
  return { ...trace, ...filled, line: { ...trace.line, color: colour } };
}

/**
 * The share of a category that stays empty, so that few bars are no walls.
 * @param {number} bars
 * @param {number} thickness At most, in pixels.
 * @param {number} room
 */
function gap(bars, thickness, room) {
  return Math.max(0.25, 1 - (thickness * bars) / room);
}

/**
 * A name on several lines, broken at blanks and between the words of a plugin's name.
 * @param {string} name
 * @param {number} most Letters of a line.
 */
function wrapped(name, most) {
  const lines = [""];
  for (const word of name.split(/(?<= )|(?<=[a-z])(?=[A-Z])/)) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.trimEnd().length > most) lines.push(word);
    else lines[lines.length - 1] = last + word;
  }
  return lines;
}

/**
 * @param {any} figure
 * @param {number} rows
 * @param {number} width
 * @param {string | undefined} time What the axis of virtual time is called.
 */
function layout(figure, rows, width, time) {
  const line = token("--line");
  const axis = { gridcolor: line, linecolor: line, zeroline: false, fixedrange: true, automargin: true };
  const small = { size: 13 };
  const trace = figure.data[0];
  const sideways = trace?.orientation === "h";
  const names = sideways
    ? trace.y.map((/** @type {string} */ name) => wrapped(name, width * NAMES / A_LETTER))
    : [];
  const lines = Math.max(1, ...names.map((/** @type {string[]} */ each) => each.length));
  const height = sideways ? Math.max(HEIGHT, FRAME + rows * A_ROW * lines) : HEIGHT;
  const ticks = {
    tickvals: trace?.y,
    ticktext: names.map((/** @type {string[]} */ each) => each.join("<br>")),
    ticks: "",
  };
  const named = sideways ? { tickfont: { family: token("--mono"), ...small }, ...ticks } : {};
  const flat = sideways ? { tickangle: 0, nticks: 4 } : {};
  const unit = figure.layout.unit ? `${time} (${figure.layout.unit})` : figure.layout.xaxis?.title?.text;
  const title = unit ? { title: { text: unit, font: small } } : {};
  return {
    ...figure.layout,
    height,
    margin: { l: 40, r: 12, t: 8, b: 34 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: token("--ink"), family: token("--sans"), ...small },
    showlegend: figure.layout.showlegend ?? figure.data.length > 1,
    legend: { orientation: "h", traceorder: "normal", y: 1.02, yanchor: "bottom", x: 0, font: small },
    hovermode: trace?.type === "scatter" ? "x unified" : "closest",
    hoverlabel: { bgcolor: token("--panel"), bordercolor: token("--edge"), font: { color: token("--ink") } },
    bargap: sideways
      ? gap(trace?.y.length ?? 1, 22, height - FRAME)
      : gap(trace?.x?.length ?? 1, 64, width - 60),
    xaxis: { ...axis, ...flat, ...figure.layout.xaxis, ...title },
    yaxis: { ...axis, ...named, ...figure.layout.yaxis },
  };
}

/** @param {HTMLElement} data */
async function draw({ dataset }) {
  const holder = first(`.plot[data-name="${dataset.plot}"]`);
  const key = `${innerWidth} ${theme()} ${dataset.figure}`;
  if (!holder || drawn.get(holder) === key) return;
  const resized = !drawn.get(holder)?.startsWith(`${innerWidth} `);
  drawn.set(holder, key);
  const library = await plotly(page?.dataset.plotly ?? "");
  if (drawn.get(holder) !== key) return;
  const figure = JSON.parse(dataset.figure ?? "");
  holder.setAttribute("role", "img");
  holder.setAttribute("aria-label", dataset.title ?? "");
  if (resized) library.purge(holder);
  const shape = layout(figure, Number(dataset.rows), holder.clientWidth, dataset.time);
  await library.react(holder, figure.data.map(coloured), shape, { displayModeBar: false });
}

function drawAll() {
  all("[data-plot]").forEach(draw);
}

// The plots move into the new part (they have no id: htmx would copy the styles that Plotly gave them), and what a reader has opened stays open.
document.addEventListener("htmx:beforeSwap", () => {
  open.clear();
  all("details[id][open]").forEach(({ id }) => open.add(id));
  all(".plot").forEach((plot) => plots.set(plot.dataset.name, plot));
});
document.addEventListener("htmx:afterSwap", () => {
  all(".plot").forEach((plot) => plot.replaceWith(plots.get(plot.dataset.name) ?? plot));
  open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
  drawAll();
});
onTheme(drawAll);
onWidth(drawAll);

/** A link to a metric opens it. */
function show() {
  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  if (wanted instanceof HTMLDetailsElement) wanted.open = true;
}
addEventListener("hashchange", show);
show();
drawAll();
