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
