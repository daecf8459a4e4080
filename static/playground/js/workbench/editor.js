// A textarea with line numbers, and errors shown at their lines. It stays a textarea: undo, selection and find are the browser's.

/** Makes an editor of `box`, which holds one textarea; errors are the list items with data-line in #editor-errors. */
export function startEditor(box) {
  if (box.dataset.started) return;
  box.dataset.started = "yes";
  const area = box.querySelector("textarea");
  const gutter = part("gutter");
  const numbers = gutter.appendChild(document.createElement("div"));
  const marks = part("squiggles");
  const lines = marks.appendChild(document.createElement("section"));
  const wrong = errorsByLine();
  box.prepend(gutter, marks);
  let shown = 0;

  function number() {
    const count = area.value.split("\n").length;
    if (count === shown) return;
    shown = count;
    numbers.replaceChildren(...Array.from({ length: count }, (_, index) => lineNumber(index + 1, wrong)));
  }
  function follow() {
    numbers.style.transform = `translateY(${-area.scrollTop}px)`;
    lines.style.transform = `translateY(${-area.scrollTop}px)`;
  }
  function mark() {
    const size = parseFloat(getComputedStyle(area).lineHeight);
    const top = parseFloat(getComputedStyle(area).paddingTop);
    lines.replaceChildren(...[...wrong].map(([line, text]) => lineMark(text, top + (line - 1) * size)));
  }
  area.addEventListener("input", () => {
    number();
    // What was wrong may be right by now: the next save tells.
    lines.replaceChildren();
  });
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", (event) => keys(event, area));
  document.querySelectorAll("#editor-errors li[data-line]").forEach((item) => {
    item.tabIndex = 0;
    item.setAttribute("role", "link");
    const jump = () => goTo(area, Number(item.dataset.line));
    item.addEventListener("click", jump);
    item.addEventListener("keydown", (event) => event.key === "Enter" && jump());
  });
  number();
  mark();
  if (wrong.size) goTo(area, Math.min(...wrong.keys()));
  follow();
}

function part(name) {
  const element = document.createElement("div");
  element.className = name;
  element.setAttribute("aria-hidden", "true");
  return element;
}

function errorsByLine() {
  const found = new Map();
  document.querySelectorAll("#editor-errors li[data-line]").forEach((item) => {
    const text = item.querySelector("code")?.textContent ?? item.textContent;
    const line = Number(item.dataset.line);
    found.set(line, found.has(line) ? `${found.get(line)}; ${text}` : text);
  });
  return found;
}

function lineNumber(line, wrong) {
  const element = document.createElement("i");
  element.textContent = line;
  element.classList.toggle("wrong", wrong.has(line));
  return element;
}

function lineMark(text, top) {
  const element = document.createElement("div");
  element.style.top = `${top}px`;
  element.appendChild(document.createElement("span")).textContent = text;
  return element;
}

function goTo(area, line) {
  const before = area.value.split("\n").slice(0, line - 1);
  const start = before.reduce((sum, each) => sum + each.length + 1, 0);
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, start);
  area.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(area).lineHeight));
}

let leaving = false;

function keys(event, area) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    area.form.requestSubmit(area.form.querySelector("button"));
  }
  if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !area.readOnly) {
    event.preventDefault();
    indent(area, event.shiftKey);
  }
  if (event.key === "Escape" && !leaving) event.preventDefault();
  leaving = event.key === "Escape" || (leaving && event.key === "Shift");
}

/** Indents the selected lines by two blanks, or takes two away; without a selection two blanks are written. */
function indent(area, outwards) {
  const { selectionStart, selectionEnd, value } = area;
  if (selectionStart === selectionEnd && !outwards) {
    document.execCommand("insertText", false, "  ");
    return;
  }
  const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const block = value.slice(from, selectionEnd);
  const changed = outwards ? block.replace(/^ {1,2}/gm, "") : block.replace(/^(?=.)/gm, "  ");
  area.setSelectionRange(from, selectionEnd);
  document.execCommand("insertText", false, changed);
  area.setSelectionRange(from, from + changed.length);
}
