// The studio's forms, sent without leaving it.
import { around, by, first, the } from "../shared/dom.js";
import { toast } from "./toast.js";

/**
 * Runs, searches and filters go over the stream; where that is closed the browser sends the form.
 * @param {(message: Record<string, unknown>) => boolean} send
 */
export function listenForms(send) {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    const isSent = form.matches("[role=search], .tools form") || // its field has been listened to while it was typed
      (form.matches("[data-run]") && run(form, send)) ||
      (form.matches("[data-search]") && send(searchOf(form, event.submitter)));
    if (isSent) event.preventDefault();
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {(message: Record<string, unknown>) => boolean} send
 */
function run(form, send) {
  const fields = new FormData(form);
  fields.delete("csrfmiddlewaretoken");
  const sent = send({ type: "run", ...Object.fromEntries(fields) });
  if (sent) the("until", HTMLDetailsElement).open = false;
  return sent;
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button
 */
function searchOf(form, button) {
  const only = new FormData(form).get("only");
  const back = button instanceof HTMLButtonElement && button.value === "back";
  return { type: "search", back, only: only ? Number(only) : null };
}

/** A fragment that came with the stream was rendered without a request, so its forms lack the token that the page's own have. */
export function listenTokens() {
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    const token = first("[name=csrfmiddlewaretoken]");
    if (token instanceof HTMLInputElement) detail.headers["X-CSRFToken"] = token.value;
  });
  document.addEventListener("submit", ({ target: form }) => {
    const token = first("[name=csrfmiddlewaretoken]");
    const lacks = form instanceof HTMLFormElement && form.method === "post" &&
      !form.querySelector("[name=csrfmiddlewaretoken]");
    if (lacks && token) form.append(token.cloneNode());
  });
}

/** A form that was refused, unless the drawer shows why: its words, taken from the page that a browser without scripts would show. */
export function listenRefusals() {
  document.addEventListener("htmx:responseError", ({ detail: { target, xhr } }) => {
    const words = wordsOf(xhr.responseText);
    if (!words || !target?.closest("#workbench")) toast(words ?? xhr.statusText);
  });
  document.addEventListener("htmx:sendError", sayUnreachable);
}

/**
 * What a page says of a refusal.
 * @param {string} page
 */
function wordsOf(page) {
  const answer = new DOMParser().parseFromString(page, "text/html");
  return first(".refusal h2", answer)?.textContent?.trim();
}

/** Nothing came back: what was filled in is still there. */
const sayUnreachable = () => toast(by("toasts").dataset.unreachable);

/** The session's name is saved when its field is left. */
export function listenRename() {
  const form = first("form.rename");
  if (!(form instanceof HTMLFormElement)) return;
  const field = the("session-name", HTMLInputElement);
  field.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const sent = { method: "POST", body: new FormData(form), headers: { "HX-Request": "true" } };
    const answer = await fetch(form.action, sent).catch(() => null);
    if (answer?.ok) field.blur();
    else if (answer) toast(wordsOf(await answer.text()) ?? answer.statusText);
    else sayUnreachable();
  });
}

/**
 * Asks before a page is left that may not be found again, unless it is left by its own links and buttons.
 * @param {() => boolean} isLost
 */
export function listenLeaving(isLost) {
  let onPurpose = false;
  document.addEventListener("click", (event) => {
    const pressed = around(event, "a[href], button");
    onPurpose = Boolean(pressed?.closest(".top-nav, form, #branches"));
  });
  addEventListener("message", ({ data, origin }) => {
    onPurpose ||= origin === location.origin && data.leaving === true; // the desk around it ends its classroom
  });
  addEventListener("beforeunload", (event) => {
    if (isLost() && !onPurpose) event.preventDefault();
  });
}
