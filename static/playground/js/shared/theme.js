// Light or dark: the system's choice until the button is pressed, then this browser's.

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The theme on the screen now. */
export function theme() {
  return document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
}

function announce() {
  document.documentElement.dispatchEvent(new CustomEvent("themechange"));
}

/** Changes to the other theme and remembers it. */
export function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("theme", next);
  } catch {
    // It holds for this page only.
  }
  announce();
}

/** A colour token as it is in the present theme. */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

dark.addEventListener("change", announce);
document.getElementById("theme-toggle")?.addEventListener("click", toggleTheme);
