// How long from an action of the user's to the picture: a performance measure named "step to paint" for each step.

let started = 0;

/** The user acted now. */
export function acted() {
  started = performance.now();
}

/** The page shows the answer: the frame after this one has it on the screen. */
export function answered() {
  if (!started) return;
  const start = started;
  started = 0;
  performance.measure("step to change", { start, end: performance.now() });
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => performance.measure("step to paint", { start, end: performance.now() });
    channel.port2.postMessage(null);
  });
}
