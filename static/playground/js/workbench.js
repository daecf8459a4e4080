// The workbench's pages, alone or in the studio's drawer: what they need beyond links and forms.
import { all, first } from "./shared/dom.js";
import { closeDrawer, showInDrawer, startDrawer } from "./shared/drawer.js";
import { startCopy } from "./workbench/copy.js";
import { startDrop } from "./workbench/drop.js";
import { startEditor } from "./workbench/editor.js";
import { startExpressions } from "./workbench/expression.js";
import { startLesson, startTrack } from "./workbench/lessons.js";
import { startSize } from "./workbench/size.js";
import { startUpload } from "./workbench/upload.js";

const TOO_LARGE = 413;

/** @param {ParentNode} root */
function start(root) {
  all("[data-editor]", root).forEach(startEditor);
  all("[data-drop]", root).forEach(startDrop);
  all("[data-share]", root).forEach(startCopy);
  all("[data-most]", root).forEach(startSize);
  all("[data-large]", root).forEach(startUpload);
  all("[data-lesson]", root).forEach(startLesson);
  all("[data-track]", root).forEach(startTrack);
  startExpressions(root);
}

// A form that was refused comes back with its errors and an honest status: show it.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { xhr, target, requestConfig } = detail;
  if (!requestConfig.elt.isConnected) {
    // The answer to a form that has gone by now, such as a preview overtaken by the form's own submit.
    detail.shouldSwap = false;
    return;
  }
  const done = xhr.getResponseHeader("X-Done");
  if (done !== null) {
    detail.shouldSwap = false;
    return closeDrawer(decodeURIComponent(done));
  }
  const asks = xhr.getResponseHeader("X-Asks") && !target?.closest("#drawer");
  if (asks && showInDrawer(xhr.responseText)) {
    detail.shouldSwap = false;
    detail.isError = false;
    return;
  }
  // What was too large to be read does not come back, so its form stays. Beyond 500 most pages are none with a form.
  const back = xhr.status >= 400 && xhr.status < 500 && xhr.status !== TOO_LARGE;
  if ((back || xhr.getResponseHeader("X-Form")) && target?.closest("#workbench, [data-fixes]")) {
    detail.shouldSwap = true;
    detail.isError = false;
  }
});
// What else the server says, such as that it can't do this just now, stands above the form, which stays as it was filled in.
document.addEventListener("htmx:responseError", ({ detail: { target, xhr } }) => {
  const room = target?.closest("#workbench");
  if (!room) return;
  const words = first(".refusal", new DOMParser().parseFromString(xhr.responseText, "text/html"));
  if (!words) return;
  first(".refusal.for-now", room)?.remove();
  words.classList.add("for-now");
  room.prepend(words);
  words.scrollIntoView({ block: "center" });
});
// A long form comes back at its top: what was wrong may be far below.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (!(target instanceof Element) || target.id !== "workbench") return;
  const wrong = first(".refusal, .field.wrong", target);
  if (!wrong) return;
  first("input, select, textarea", wrong)?.focus({ preventScroll: true });
  requestAnimationFrame(() => wrong.scrollIntoView({ block: "center" }));
});
document.addEventListener("htmx:load", ({ detail }) => start(detail.elt.parentElement ?? document));
start(document);
startDrawer();
