// The workbench's pages, alone or in the studio's drawer: what they need beyond links and forms.
import { closeDrawers, showInDrawer, startDrawer } from "./drawer.js";
import { startDrop } from "./drop.js";
import { startEditor } from "./editor.js";
import { startCopy } from "./copy.js";

function start(root) {
  root.querySelectorAll("[data-editor]").forEach(startEditor);
  root.querySelectorAll("[data-drop]").forEach(startDrop);
  root.querySelectorAll("[data-share]").forEach(startCopy);
}

// A form that was refused comes back with its errors and an honest status: show it.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target, requestConfig } = event.detail;
  if (!requestConfig.elt.isConnected) {
    // The answer to a form that has gone by now, such as a preview overtaken by the form's own submit.
    event.detail.shouldSwap = false;
    return;
  }
  if (xhr.getResponseHeader("X-Asks") && !target?.closest?.("#drawer") && showInDrawer(xhr.responseText)) {
    event.detail.shouldSwap = false;
    event.detail.isError = false;
    return;
  }
  if (xhr.status >= 400 && xhr.status < 500 && target?.closest?.("#workbench, #fixes")) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});
// A long form comes back at its top: what was wrong may be far below.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "workbench") return;
  const wrong = event.target.querySelector(".refusal, .field.wrong");
  if (!wrong) return;
  wrong.querySelector("input, select, textarea")?.focus({ preventScroll: true });
  requestAnimationFrame(() => wrong.scrollIntoView({ block: "center" }));
});
document.addEventListener("htmx:load", (event) => start(event.detail.elt.parentElement ?? document));
start(document);
startDrawer();

export { closeDrawers };
