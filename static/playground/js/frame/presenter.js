// The presenter: the stage alone, large, with one sentence and Next below it. It stands in the URL, so that a reload keeps it.
import { by, first } from "../shared/dom.js";

const NAME = "presenter";

export const isPresenting = () => NAME in document.body.dataset;

/**
 * Turns it on or off.
 * @param {boolean} on
 */
export function present(on = !isPresenting()) {
  if (on) document.body.dataset[NAME] = "1";
  else delete document.body.dataset[NAME];
  const url = new URL(location.href);
  if (on) url.searchParams.set(NAME, "1");
  else url.searchParams.delete(NAME);
  history.replaceState(history.state, "", url);
  showCaption();
  dispatchEvent(new Event("resize")); // canvases and charts take their new sizes
}

/**
 * The query with the presenter where it is on.
 * @param {string} query
 */
export function withPresenter(query) {
  if (!isPresenting()) return query;
  return `${query ? `${query}&` : "?"}${NAME}=1`;
}

/** The narrator's sentence below the stage. */
export function showCaption() {
  if (!isPresenting()) return;
  const said = first("#panel-narrator .sentence");
  by("caption-says").replaceChildren(...[...(said?.childNodes ?? [])].map((node) => node.cloneNode(true)));
}
