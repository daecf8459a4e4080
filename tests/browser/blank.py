"""How much of a stage is blank."""

from __future__ import annotations

# What is left of a part in sight, in percent, when each text, mark, and control of it is grown by 12 px.
BLANK = """(selector) => {
  const CELL = 4, GROW = 12, THIN = 40;
  const stage = document.querySelector(selector);
  const { left, top, right, bottom } = stage.getBoundingClientRect();
  const width = Math.floor((Math.min(right, innerWidth) - left) / CELL);
  const height = Math.floor((Math.min(bottom, innerHeight) - top) / CELL);
  const filled = new Uint8Array(width * height);
  const fill = (box, element) => {
    let { left: l, top: t, right: r, bottom: b } = box;
    for (let one = element; one !== stage.parentElement; one = one.parentElement) {
      if (getComputedStyle(one).overflow === "visible") continue;
      const clip = one.getBoundingClientRect();
      [l, t, r, b] = [Math.max(l, clip.left), Math.max(t, clip.top), Math.min(r, clip.right), Math.min(b, clip.bottom)];
    }
    if (r - l < 1 || b - t < 1) return;
    const from = Math.max(0, Math.floor((l - GROW - left) / CELL)), to = Math.min(width, Math.ceil((r + GROW - left) / CELL));
    const last = Math.min(height, Math.ceil((b + GROW - top) / CELL));
    for (let y = Math.max(0, Math.floor((t - GROW - top) / CELL)); y < last; y += 1) {
      if (to > from) filled.fill(1, y * width + from, y * width + to);
    }
  };
  const painted = (style) => style.backgroundColor !== "rgba(0, 0, 0, 0)" || style.backgroundImage !== "none";
  const colored = (style) => painted(style) || parseFloat(style.borderTopWidth) > 0;
  for (const element of stage.querySelectorAll("*")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.closest(".vh")) continue;
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) fill(box, element);
    }
    const box = element.getBoundingClientRect();
    const thin = box.height <= THIN && !element.ownerSVGElement && painted(getComputedStyle(element));
    const mark = element.ownerSVGElement || element.matches("canvas, img, button, input, meter, select, textarea, summary");
    if (mark || thin) fill(box, element);
    for (const pseudo of ["::before", "::after"]) {
      const style = getComputedStyle(element, pseudo);
      if (style.content === "none" || style.position !== "absolute" || !colored(style)) continue;
      const tall = parseFloat(style.height) || 0, middle = box.top + (parseFloat(style.top) || 0);
      if (tall <= THIN) fill({ left: box.left, right: box.right, top: middle, bottom: middle + tall }, element);
    }
  }
  return Math.round(100 * (1 - filled.reduce((sum, one) => sum + one, 0) / filled.length));
}"""
MOST = 40  # percent
