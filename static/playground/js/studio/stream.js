// The session's WebSocket: resumes from what this page has seen, reconnects, and hands each message to its listener.

const FIRST_DELAY = 250;
const LONGEST_DELAY = 8000;
const SILENCE = 25000;

/**
 * @param {string} url
 * @param {{hello: () => object, message: (data: object) => void, state: (open: boolean) => void}} listener
 *   `hello` is the first message of every connection.
 */
export function connect(url, listener) {
  let socket = null;
  let delay = FIRST_DELAY;
  let timer = 0;
  let over = false;

  function open() {
    clearTimeout(timer);
    socket = new WebSocket(url);
    socket.onopen = () => {
      delay = FIRST_DELAY;
      socket.send(JSON.stringify(listener.hello()));
      listener.state(true);
    };
    socket.onmessage = (event) => {
      const data = JSON.parse(event.data);
      if (data.type === "gone") over = true;
      listener.message(data);
    };
    socket.onclose = () => {
      listener.state(false);
      if (over) return;
      timer = setTimeout(open, delay * (0.7 + Math.random() * 0.6));
      delay = Math.min(delay * 2, LONGEST_DELAY);
    };
  }

  setInterval(() => send({ type: "ping" }), SILENCE);
  addEventListener("online", () => socket?.readyState === WebSocket.CLOSED && !over && open());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && socket?.readyState === WebSocket.CLOSED && !over) open();
  });

  /** Sends a message; false where there is no connection now. */
  function send(data) {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(data));
    return true;
  }

  open();
  return { send };
}
