// The first expression that is wrong gets the cursor, at the character that is.

/** @param {ParentNode} root */
export function startExpressions(root) {
  const wrong = root.querySelector("textarea[data-wrong-line]");
  if (!(wrong instanceof HTMLTextAreaElement) || wrong.dataset.started) return;
  wrong.dataset.started = "yes";
  const { wrongLine, wrongColumn } = wrong.dataset;
  const before = wrong.value.split("\n").slice(0, Number(wrongLine) - 1);
  const start = before.reduce((sum, { length }) => sum + length + 1, 0) + Number(wrongColumn) - 1;
  wrong.focus({ preventScroll: true });
  wrong.setSelectionRange(start, start + 1);
}
