// The studio's drawer: a link with data-drawer opens its page beside the cluster, without leaving the studio.
import { all, around, first, maybe } from "./dom.js";
import { standingAt } from "./standing.js";

const HEADERS = { "X-Drawer": "1" };

/** What had the focus when the drawer opened. */
let opener = /** @type {Element | null} */ (null);

/** The page's drawer, or null where there is none. */
const drawer = () => maybe("drawer", HTMLDialogElement);

/**
 * Opens a URL in the drawer; where the viewer stands goes with it.
 * @param {string} href
 */
export async function openInDrawer(href) {
  if (!drawer()?.open) opener = document.activeElement;
  const url = new URL(href, location.href);
  const at = standingAt();
  if (at !== null && !url.searchParams.has("at")) url.searchParams.set("at", at);
  await htmx.ajax("GET", url.pathname + url.search, {
    target: "#workbench",
    swap: "outerHTML",
    headers: HEADERS,
  });
  const dialog = show();
  if (!dialog) return;
  dialog.scrollTop = 0;
  first(".block.act", dialog)?.scrollIntoView({ block: "nearest" }); // beside a lesson's card there is room for little above it
}

/**
 * Shows the workbench of an answer that came to a form outside of the drawer; false where there is no drawer.
 * @param {string} text
 */
export function showInDrawer(text) {
  const room = new DOMParser().parseFromString(text, "text/html").getElementById("workbench");
  if (!drawer() || !room) return false;
  document.getElementById("workbench")?.replaceWith(room);
  htmx.process(room);
  show();
  return true;
}

/**
 * Closes the drawer after what it was open for is done; the studio says so.
 * @param {string} said
 */
export function closeDrawer(said) {
  drawer()?.close();
  document.dispatchEvent(new CustomEvent("done", { detail: said }));
}

function show() {
  const dialog = drawer();
  if (dialog && !dialog.open) dialog.show();
  dialog?.focus();
  return dialog;
}

/** Listens to links that open in the drawer, and to what closes it; the focus goes back to what opened it. */
export function startDrawer() {
  const dialog = drawer();
  if (!dialog) return;
  document.addEventListener("click", (event) => {
    const link = around(event, "a[data-drawer]");
    if (link instanceof HTMLAnchorElement && isPlain(event)) {
      event.preventDefault();
      openInDrawer(link.href);
    }
    if (around(event, "[data-drawer-close]")) dialog.close();
  });
  dialog.addEventListener("close", () => giveBack(dialog));
  dialog.addEventListener("keydown", (event) => {
    if (!dialog.open) return;
    if (event.key === "Escape" && !event.defaultPrevented) dialog.close();
    // The studio's keys are not meant while somebody writes here.
    event.stopPropagation();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && dialog.open && !all("dialog[open]:not(.drawer)").length) dialog.close();
  });
}

/**
 * Gives the focus back to what opened the drawer: to its successor where it was painted anew, to its menu's button where the menu has closed.
 * @param {HTMLElement} dialog
 */
function giveBack(dialog) {
  const now = opener?.isConnected ? opener : maybe(opener?.id ?? "", HTMLElement);
  const seen = now?.checkVisibility() ? now : now?.closest("details")?.querySelector("summary");
  if (seen instanceof HTMLElement || seen instanceof SVGElement) seen.focus();
  // A closed dialog that keeps the focus would keep the studio's keys, too.
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && dialog.contains(focused)) focused.blur();
}

/**
 * Whether a click is one that opens a link here, and not in another tab.
 * @param {MouseEvent} event
 */
export function isPlain(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
}
