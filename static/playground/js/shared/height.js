// A page within another page says how high it is, and nothing else.
import { all } from "./dom.js";

const TYPE = "scheduler-playground:height";

/** Tells the page around the height, now and whenever it changes. */
export function postHeight() {
  if (parent === self) return;
  const tell = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    parent.postMessage({ type: TYPE, height }, "*");
  };
  new ResizeObserver(tell).observe(document.body);
}

/** Gives frames of our own pages the height that they tell. */
export function followHeights() {
  addEventListener("message", ({ data, origin, source }) => {
    if (origin !== location.origin || data?.type !== TYPE || !Number.isInteger(data.height)) return;
    const frame = all("iframe").find((each) =>
      each instanceof HTMLIFrameElement && each.contentWindow === source
    );
    frame?.setAttribute("height", String(Math.min(data.height, 900)));
  });
}
