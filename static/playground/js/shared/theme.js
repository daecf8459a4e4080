// Light or dark: the system's choice until the button is pressed, then this browser's.

const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

/** The theme on the screen now. */
export function theme() {
  return root.dataset.theme ?? (dark.matches ? "dark" : "light");
}

/** Changes to the other theme and remembers it. */
export function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  root.dataset.theme = next;
  try {
    localStorage.setItem("theme", next);
  } catch {
    // It holds for this page only.
  }
  announce();
}

/**
 * A colour token as it is in the present theme.
 * @param {string} name
 */
export function token(name) {
  return getComputedStyle(root).getPropertyValue(name).trim();
}

/**
 * Calls `then` whenever the theme has changed.
 * @param {() => void} then
 */
export function onTheme(then) {
  root.addEventListener("themechange", then);
}

function announce() {
  root.dispatchEvent(new CustomEvent("themechange"));
}

dark.addEventListener("change", announce);
document.getElementById("theme-toggle")?.addEventListener("click", toggleTheme);
