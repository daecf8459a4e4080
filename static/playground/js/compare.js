// The comparison's charts; the tables beside them say the same. Plotly is loaded from our own host; colours come from the page's tokens.
import { plotly as load } from "./plotly.js";
import { token } from "./theme.js";

const COLOURS = ["--p1", "--p5"];
const figures = [...document.querySelectorAll("figure[data-chart]")];

function draw(plotly) {
  for (const figure of figures) {
    const { data, layout } = JSON.parse(figure.dataset.chart);
    figure.hidden = false;
    data.forEach((one, i) => {
      const color = token(COLOURS[i]);
      one.marker = { color };
      if (one.line) one.line = { ...one.line, color, width: 2, dash: i ? "dot" : "solid" };
    });
    const axis = { gridcolor: token("--line"), zeroline: false, fixedrange: true, automargin: true };
    plotly.react(
      figure.querySelector(".drawing"),
      data,
      {
        ...layout,
        height: 190,
        margin: { l: 8, r: 8, t: 6, b: 8 },
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { color: token("--ink"), size: 11, family: token("--sans") },
        legend: { orientation: "h", x: 0, y: 1.15 },
        xaxis: { ...axis, ...layout.xaxis },
        yaxis: { ...axis, ...layout.yaxis },
      },
      { displayModeBar: false, responsive: true },
    );
  }
}

if (figures.length) {
  const plotly = await load(figures[0].dataset.plotly);
  draw(plotly);
  document.documentElement.addEventListener("themechange", () => draw(plotly));
}
