// Plotly is loaded once, when the first chart is drawn: it is large, and most pages have none.

/** @type {Promise<PlotlyLibrary> | null} */
let library = null;

/**
 * The library, from the address that a page's element names.
 * @param {string} address
 */
export function plotly(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(Plotly);
    script.onerror = () => reject(new Error("Plotly could not be loaded"));
    document.head.append(script);
  });
  return library;
}

const QUIET = 150; // ms without another change

/**
 * Draws again when the window's width has changed. Plotly's own way to do that keeps the room that the legend had before.
 * @param {() => void} draw
 */
export function onWidth(draw) {
  let [width, timer] = [innerWidth, 0];
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(draw, QUIET);
  });
}
