// Every key of the studio. The dialog behind `?` lists them; tests/browser/test_studio.py checks that both agree.

import { overLanes } from "./timeline.js";

const TYPING = "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]";

/** Listens to keys and calls the action of the same name. */
export function listen(act) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]:not(.drawer)")) return;
    const target = event.target;
    if (event.key === "Escape") {
      target.blur?.();
      return;
    }
    if (target.matches?.(TYPING)) return;
    const own = target.matches?.("input, canvas, .lane svg a, .tabs a") && event.key.startsWith("Arrow");
    if (own || (event.key === " " && target.matches?.("button, a, summary, input, [role=region]"))) return;
    const action = actionOf(event);
    if (action && act(...action) !== false) event.preventDefault();
  });
}

function actionOf({ key, shiftKey, repeat }) {
  if (key === "ArrowRight") return [shiftKey ? "point" : "plugin"];
  if (key === "ArrowLeft") return ["back", shiftKey ? "point" : "plugin"];
  if (key === "Home") return ["first"];
  if (key === "End") return ["follow"];
  if (key === " ") return repeat ? null : ["playpause"];
  if (key === "/" || key === "?") return [key === "/" ? "search" : "keys"];
  if (key === "B") return repeat ? null : ["breakBack"];
  if (key === "[" || key === "]") return ["speed", key === "]" ? 1 : -1];
  if (/^[1-9]$/.test(key)) return ["tab", Number(key) - 1];
  const lanes = { w: "closer", s: "wider", a: "left", d: "right" };
  if (lanes[key.toLowerCase()] && overLanes()) return [lanes[key.toLowerCase()]];
  const letters = {
    n: "pod",
    e: "event",
    f: "follow",
    r: "run",
    u: "until",
    t: "theme",
    p: "unpin",
    a: "allow",
    x: "reject",
    b: "breakNext",
    m: "bookmark",
    c: "diff",
    l: "commands",
    h: "records",
  };
  const name = letters[key.toLowerCase()];
  return name && !(repeat && ["run", "allow", "reject", "breakNext", "bookmark"].includes(name))
    ? [name]
    : null;
}
