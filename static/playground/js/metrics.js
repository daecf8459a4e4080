// The charts of the metrics page. Their data comes with the part of the page that is swapped as the session moves; the plots stay.
import { plotly } from "./plotly.js";
import { theme, token } from "./theme.js";

const page = document.querySelector("[data-plotly]");
const open = new Set();
const plots = new Map();

function coloured(trace) {
  const colour = token(trace.token);
  if (trace.type === "bar") return { ...trace, marker: { color: colour } };
  const filled = trace.stackgroup ? { fillcolor: `color-mix(in srgb, ${colour} 45%, transparent)` } : {};
  return { ...trace, ...filled, line: { ...trace.line, color: colour } };
}

/** The share of a category that stays empty, so that few bars are no walls. */
function gap(figure, sideways, room) {
  const bars = figure.data[0]?.[sideways ? "y" : "x"].length ?? 1;
  return Math.max(0.25, 1 - ((sideways ? 22 : 64) * bars) / room);
}

function layout(figure, rows, width, time) {
  const axis = {
    gridcolor: token("--line"),
    linecolor: token("--line"),
    zeroline: false,
    fixedrange: true,
    automargin: true,
  };
  const sideways = figure.data[0]?.orientation === "h";
  const height = sideways ? Math.max(240, 70 + rows * 21) : 240;
  const named = sideways ? { tickfont: { family: token("--mono"), size: 11 }, ticks: "" } : {};
  return {
    ...figure.layout,
    height,
    margin: { l: 40, r: 12, t: 8, b: 34 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: token("--ink"), size: 11, family: token("--sans") },
    showlegend: figure.data.length > 1,
    legend: { orientation: "h", traceorder: "normal", y: 1.02, yanchor: "bottom", x: 0, font: { size: 11 } },
    hovermode: figure.data[0]?.type === "scatter" ? "x unified" : "closest",
    hoverlabel: { bgcolor: token("--panel"), bordercolor: token("--edge"), font: { color: token("--ink") } },
    bargap: gap(figure, sideways, sideways ? height - 70 : width - 60),
    xaxis: { ...axis, ...figure.layout.xaxis, ...titled(figure, time) },
    yaxis: { ...axis, ...named, ...figure.layout.yaxis },
  };
}

function titled(figure, time) {
  return figure.layout.unit ? { title: { text: `${time} (${figure.layout.unit})`, font: { size: 11 } } } : {};
}

async function draw(data) {
  const holder = document.querySelector(`.plot[data-name="${data.dataset.plot}"]`);
  const key = `${theme()} ${data.dataset.figure}`;
  if (!holder || holder.drawn === key) return;
  holder.drawn = key;
  const library = await plotly(page.dataset.plotly);
  if (holder.drawn !== key) return;
  const figure = JSON.parse(data.dataset.figure);
  holder.setAttribute("role", "img");
  holder.setAttribute("aria-label", data.dataset.title);
  const rows = Number(data.dataset.rows);
  await library.react(
    holder,
    figure.data.map(coloured),
    layout(figure, rows, holder.clientWidth, data.dataset.time),
    { displayModeBar: false, responsive: true },
  );
}

function drawAll() {
  document.querySelectorAll("[data-plot]").forEach(draw);
}

// The plots move into the new part (they have no id: htmx would copy the styles that Plotly gave them), and what a reader has opened stays open.
document.addEventListener("htmx:beforeSwap", () => {
  open.clear();
  document.querySelectorAll("details[id][open]").forEach((one) => open.add(one.id));
  document.querySelectorAll(".plot").forEach((one) => plots.set(one.dataset.name, one));
});
document.addEventListener("htmx:afterSwap", () => {
  document.querySelectorAll(".plot").forEach((one) => one.replaceWith(plots.get(one.dataset.name) ?? one));
  open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
  drawAll();
});
document.documentElement.addEventListener("themechange", drawAll);

// A link to a metric opens it.
function show() {
  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  if (wanted instanceof HTMLDetailsElement) wanted.open = true;
}
addEventListener("hashchange", show);
show();
drawAll();
