// The moving picture of the first page: it stops on request, and while it is out of sight.
import { first } from "./shared/dom.js";

const film = first(".show");
const button = first("[data-film-pause]");

if (film && button) {
  button.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
  button.addEventListener("click", () => {
    const still = film.toggleAttribute("data-still");
    button.setAttribute("aria-pressed", String(still));
  });
  new IntersectionObserver(([{ isIntersecting }]) => {
    film.toggleAttribute("data-away", !isIntersecting);
  }).observe(film);
}
