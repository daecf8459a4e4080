"""How small the type of a page is."""

from __future__ import annotations

# Visible texts that are smaller than they may be, with where they stand.
SMALL = """(least) => {
  const small = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: element, textContent } = walker.currentNode;
    if (!textContent.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest(".vh, .sprite, script, noscript, option")) continue;
    const { width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) continue;
    const scale = element.ownerSVGElement ? element.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size && size < least - .05) small.add(`${size} px: ${element.tagName}.${element.className} ${textContent.trim().slice(0, 30)}`);
  }
  return [...small];
}"""
LEAST = 13  # px
