// The comparison's charts; the tables beside them say the same. Plotly is loaded from our own host; colours come from the page's tokens.
import { all, first } from "./shared/dom.js";
import { onWidth, plotly } from "./shared/plotly.js";
import { onTheme, token } from "./shared/theme.js";

const COLOURS = ["--p1", "--p5"];

const figures = all("figure[data-chart]");

/** @param {PlotlyLibrary} library */
function draw(library) {
  for (const figure of figures) {
    const { data, layout } = JSON.parse(figure.dataset.chart ?? "");
    figure.hidden = false;
    const drawing = /** @type {HTMLElement} */ (first(".drawing", figure));
    library.purge(drawing);
    library.react(drawing, data.map(coloured), layoutOf(layout), { displayModeBar: false });
  }
}

/**
 * @param {any} trace
 * @param {number} i
 */
function coloured(trace, i) {
  const color = token(COLOURS[i]);
  const line = trace.line && { line: { ...trace.line, color, width: 2, dash: i ? "dot" : "solid" } };
  return { ...trace, ...line, marker: { color } };
}

/** @param {any} given What the server says of the layout. */
function layoutOf(given) {
  const axis = { gridcolor: token("--line"), zeroline: false, fixedrange: true, automargin: true };
  return {
    ...given,
    height: 210,
    margin: { l: 8, r: 8, t: 6, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: token("--ink"), size: 13, family: token("--sans") },
    legend: { orientation: "h", x: 0, y: 1.15 },
    xaxis: { ...axis, ...given.xaxis },
    yaxis: { ...axis, ...given.yaxis },
  };
}

if (figures.length) {
  const library = await plotly(figures[0].dataset.plotly ?? "");
  draw(library);
  onTheme(() => draw(library));
  onWidth(() => draw(library));
}
