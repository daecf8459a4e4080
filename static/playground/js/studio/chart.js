// The scores as stacked bars. Plotly is loaded only once the Scores tab is open; colours come from the page's tokens.
import { plotly as load } from "./plotly.js";
import { theme, token } from "./theme.js";

const holder = document.getElementById("chart-holder");
const COLOURS = ["--p1", "--p3", "--p6", "--p5", "--p4", "--p2"];
let drawn = "";

/** Draws the chart that the inspector's panel describes, or hides the holder where there is none. */
export async function drawChart() {
  const data = document.getElementById("chart-data");
  holder.hidden = !data;
  if (!data) return;
  const key = `${theme()} ${data.dataset.chart}`;
  if (key === drawn) return;
  drawn = key;
  holder.setAttribute("role", "img");
  holder.setAttribute("aria-label", data.dataset.title);
  const figure = JSON.parse(data.dataset.chart);
  const plotly = await load(holder.dataset.plotly);
  if (key !== drawn) return;
  const ink = token("--ink");
  figure.data.forEach((bar, i) => (bar.marker = { color: token(COLOURS[i % COLOURS.length]) }));
  const rows = figure.data[0]?.y.length ?? 0;
  await plotly.react(
    holder,
    figure.data,
    {
      ...figure.layout,
      height: 34 + rows * 23,
      margin: { l: 8, r: 14, t: 4, b: 24 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, size: 11, family: token("--sans") },
      showlegend: false,
      xaxis: { gridcolor: token("--line"), zeroline: false, fixedrange: true },
      yaxis: {
        ...figure.layout.yaxis,
        automargin: true,
        fixedrange: true,
        ticks: "",
        tickfont: { family: token("--mono"), size: 11 },
      },
      bargap: 0.25,
    },
    { displayModeBar: false, responsive: true },
  );
  holder.style.height = `${34 + rows * 23}px`;
}

document.documentElement.addEventListener("themechange", () => drawChart());
