// The scores as stacked bars. Plotly is loaded only once the Scores tab is open; colours come from the page's tokens.
import { by } from "../shared/dom.js";
import { plotly } from "../shared/plotly.js";
import { onTheme, theme, token } from "../shared/theme.js";

const COLOURS = ["--p1", "--p3", "--p6", "--p5", "--p4", "--p2"];
const A_ROW = 23;
const FRAME = 34;

const holder = by("chart-holder");
let drawn = "";

/** Draws the chart that the inspector's panel describes, or hides the holder where there is none. */
export async function drawChart() {
  const data = document.getElementById("chart-data");
  holder.hidden = !data;
  if (!data) return;
  const { chart = "", title = "" } = data.dataset;
  const key = `${theme()} ${chart}`;
  if (key === drawn) return;
  drawn = key;
  holder.setAttribute("role", "img");
  holder.setAttribute("aria-label", title);
  const library = await plotly(holder.dataset.plotly ?? "");
  if (key !== drawn) return;
  const figure = JSON.parse(chart);
  const bars = figure.data.map(coloured);
  const height = FRAME + (bars[0]?.y.length ?? 0) * A_ROW;
  await library.react(holder, bars, layout(figure.layout, height), {
    displayModeBar: false,
    responsive: true,
  });
  holder.style.height = `${height}px`;
}

/**
 * @param {object} bar
 * @param {number} i
 */
function coloured(bar, i) {
  return { ...bar, marker: { color: token(COLOURS[i % COLOURS.length]) } };
}

/**
 * @param {any} given What the server says of the layout.
 * @param {number} height
 */
function layout(given, height) {
  const mono = { family: token("--mono"), size: 11 };
  return {
    ...given,
    height,
    margin: { l: 8, r: 14, t: 4, b: 24 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: token("--ink"), size: 11, family: token("--sans") },
    showlegend: false,
    xaxis: { gridcolor: token("--line"), zeroline: false, fixedrange: true },
    yaxis: { ...given.yaxis, automargin: true, fixedrange: true, ticks: "", tickfont: mono },
    bargap: 0.25,
  };
}

onTheme(drawChart);
