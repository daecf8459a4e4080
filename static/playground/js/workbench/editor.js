// A textarea with line numbers, and errors shown at their lines. It stays a textarea: undo, selection and find are the browser's.
import { all, first } from "../shared/dom.js";

const INDENT = "  ";
const LINES_ABOVE = 6; // of one that is jumped to

/** @typedef {Map<number, string>} Errors What is wrong in a line. */

/**
 * Makes an editor of a box that holds one textarea; errors are the list items with data-line in #editor-errors.
 * @param {HTMLElement} box
 */
export function startEditor(box) {
  const area = box.querySelector("textarea");
  if (!area || box.dataset.started) return;
  box.dataset.started = "yes";
  const errors = errorsByLine();
  const numbers = part("gutter", "div");
  const squiggles = part("squiggles", "section");
  box.prepend(...[numbers, squiggles].flatMap((inner) => inner.parentElement ?? []));
  const number = () => showNumbers(numbers, area.value.split("\n").length, errors);
  const follow = () => {
    for (const inner of [numbers, squiggles]) inner.style.transform = `translateY(${-area.scrollTop}px)`;
  };
  area.addEventListener("input", () => {
    number();
    // What was wrong may be right by now: the next save tells.
    squiggles.replaceChildren();
  });
  area.addEventListener("scroll", follow);
  listenToKeys(area);
  listenToErrors(area);
  number();
  const lines = area.value.split("\n");
  squiggles.replaceChildren(
    ...[...errors].map(([line, text]) => squiggle(text, topOf(line, area), lines[line - 1] ?? "")),
  );
  if (errors.size) goTo(area, Math.min(...errors.keys()));
  follow();
}

/**
 * A layer beside the text that scrolls along; only what is in it is of interest.
 * @param {string} name
 * @param {string} tag
 */
function part(name, tag) {
  const layer = document.createElement("div");
  layer.className = name;
  layer.setAttribute("aria-hidden", "true");
  return layer.appendChild(document.createElement(tag));
}

const errorItems = () => all("#editor-errors li[data-line]");

/** @returns {Errors} */
function errorsByLine() {
  const errors = new Map();
  for (const item of errorItems()) {
    const text = (first("code", item) ?? item).textContent;
    const line = Number(item.dataset.line);
    errors.set(line, errors.has(line) ? `${errors.get(line)}; ${text}` : text);
  }
  return errors;
}

/**
 * @param {HTMLElement} numbers
 * @param {number} count
 * @param {Errors} errors
 */
function showNumbers(numbers, count, errors) {
  if (numbers.childElementCount === count) return;
  const lines = Array.from({ length: count }, (_, i) => {
    const line = document.createElement("i");
    line.textContent = String(i + 1);
    line.classList.toggle("wrong", errors.has(i + 1));
    return line;
  });
  numbers.replaceChildren(...lines);
}

/**
 * The message stands behind what is written in its line, as far as there is room.
 * @param {string} text
 * @param {number} top
 * @param {string} written
 */
function squiggle(text, top, written) {
  const line = document.createElement("div");
  line.style.top = `${top}px`;
  line.style.setProperty("--columns", String(written.replaceAll("\t", "  ").length));
  line.appendChild(document.createElement("span")).textContent = text;
  return line;
}

/**
 * @param {number} line
 * @param {HTMLTextAreaElement} area
 */
function topOf(line, area) {
  const { lineHeight, paddingTop } = getComputedStyle(area);
  return parseFloat(paddingTop) + (line - 1) * parseFloat(lineHeight);
}

/**
 * An error leads to its line.
 * @param {HTMLTextAreaElement} area
 */
function listenToErrors(area) {
  for (const item of errorItems()) {
    const link = document.createElement("span"); // an item of a list stays one
    link.append(...item.childNodes);
    item.append(link);
    link.tabIndex = 0;
    link.setAttribute("role", "link");
    const jump = () => goTo(area, Number(item.dataset.line));
    item.addEventListener("click", jump);
    link.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // else it is written at that line
      jump();
    });
  }
}

/**
 * @param {HTMLTextAreaElement} area
 * @param {number} line
 */
function goTo(area, line) {
  const before = area.value.split("\n").slice(0, line - 1);
  const start = before.reduce((sum, { length }) => sum + length + 1, 0);
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, start);
  area.scrollTop = Math.max(0, (line - LINES_ABOVE) * parseFloat(getComputedStyle(area).lineHeight));
}

/**
 * Tab indents, Escape then Tab leaves, Ctrl+Enter saves.
 * @param {HTMLTextAreaElement} area
 */
function listenToKeys(area) {
  let leaving = false;
  area.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key === "Enter" && (ctrlKey || metaKey)) {
      event.preventDefault();
      area.form?.requestSubmit(area.form.querySelector("button"));
    }
    if (key === "Tab" && !leaving && !ctrlKey && !altKey && !area.readOnly) {
      event.preventDefault();
      indent(area, shiftKey);
    }
    if (key === "Escape" && !leaving) event.preventDefault();
    leaving = key === "Escape" || (leaving && key === "Shift");
  });
}

/**
 * Indents the selected lines by two blanks, or takes two away; without a selection two blanks are written.
 * @param {HTMLTextAreaElement} area
 * @param {boolean} outwards
 */
function indent(area, outwards) {
  const { selectionStart, selectionEnd, value } = area;
  if (selectionStart === selectionEnd && !outwards) {
    document.execCommand("insertText", false, INDENT);
    return;
  }
  const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const block = value.slice(from, selectionEnd);
  const changed = outwards ? block.replace(/^ {1,2}/gm, "") : block.replace(/^(?=.)/gm, INDENT);
  area.setSelectionRange(from, selectionEnd);
  document.execCommand("insertText", false, changed);
  area.setSelectionRange(from, from + changed.length);
}
