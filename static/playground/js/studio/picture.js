// The stage as a picture to keep, PNG or SVG: drawn by html-to-image, which is fetched when it is asked for first.
import { around, by, first } from "../shared/dom.js";
import { toast } from "./toast.js";

const SHARPNESS = 2; // pixels of the picture for one on the screen
const UNPICTURED = "#lanes, .forms, noscript";

/** @type {Promise<unknown> | null} */
let loading = null;

/**
 * Loads the library once.
 * @param {string} address
 */
function load(address) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

/** @param {Node} node */
const isPictured = (node) => !(node instanceof Element && node.matches(UNPICTURED));

/**
 * Saves the stage.
 * @param {"png" | "svg"} kind
 * @param {string} library Where html-to-image is.
 */
async function save(kind, library) {
  await load(library);
  const stage = by("stage");
  const { backgroundColor } = getComputedStyle(document.body);
  const options = {
    filter: isPictured,
    backgroundColor,
    pixelRatio: SHARPNESS,
    skipFonts: true,
    width: stage.clientWidth,
    height: stage.scrollHeight,
  };
  const url = await (kind === "svg" ? htmlToImage.toSvg(stage, options) : htmlToImage.toPng(stage, options));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${stage.dataset.stage}-${by("panel-transport").dataset.position}.${kind}`;
  link.click();
}

/** Listens to the buttons that save the stage. */
export function listenPicture() {
  document.addEventListener("click", async (event) => {
    const button = around(event, "[data-picture]");
    if (!button) return;
    const { picture, library = "", failed = "" } = button.dataset;
    first("#more[open]")?.removeAttribute("open");
    await save(picture === "svg" ? "svg" : "png", library).catch(() => toast(failed));
  });
}
