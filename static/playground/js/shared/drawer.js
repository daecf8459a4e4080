// The studio's drawer: a link with data-drawer opens its page beside the cluster, without leaving the studio.
const HEADERS = { "X-Drawer": "1" };

/** The page's drawer, or null where there is none. */
function drawer() {
  return document.getElementById("drawer");
}

/** Opens a URL in the drawer; where the viewer stands goes with it. */
export function openInDrawer(href) {
  const url = new URL(href, location.href);
  const at = new URLSearchParams(location.search).get("at");
  if (at !== null && !url.searchParams.has("at")) url.searchParams.set("at", at);
  return window.htmx
    .ajax("GET", url.pathname + url.search, { target: "#workbench", swap: "outerHTML", headers: HEADERS })
    .then(() => {
      if (!drawer().open) drawer().show();
      drawer().scrollTop = 0;
      drawer().focus();
    });
}

/** Shows the workbench of an answer that came to a form outside of the drawer; false where there is no drawer. */
export function showInDrawer(text) {
  const room = new DOMParser().parseFromString(text, "text/html").getElementById("workbench");
  if (!drawer() || !room) return false;
  document.getElementById("workbench").replaceWith(room);
  window.htmx.process(room);
  if (!drawer().open) drawer().show();
  drawer().focus();
  return true;
}

/** Closes the drawer and gives the focus back to what opened it. */
export function closeDrawers() {
  drawer()?.close();
}

export function startDrawer() {
  const dialog = drawer();
  if (!dialog) return;
  let opener = null;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-drawer]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      opener = link;
      openInDrawer(link.href);
    }
    if (event.target.closest("[data-drawer-close]")) dialog.close();
  });
  dialog.addEventListener("close", () => opener?.focus());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) dialog.close();
    // The studio's keys are not meant while somebody writes here.
    event.stopPropagation();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && dialog.open && !document.querySelector("dialog[open]:not(.drawer)")) {
      dialog.close();
    }
  });
}
