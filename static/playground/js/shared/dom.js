// The page's elements, by kind. What a page always has is missed loudly; what it may have is null where it has not.

/**
 * The element with an id, which the page always has.
 * @param {string} id
 */
export const by = (id) => html(the(id, Element));

/**
 * The element of a kind with an id, which the page always has.
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function the(id, kind) {
  const element = maybe(id, kind);
  if (!element) throw new Error(`The page has no ${kind.name} #${id}.`);
  return element;
}

/**
 * The element of a kind with an id, where the page has it now.
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T | null}
 */
export function maybe(id, kind) {
  const element = document.getElementById(id);
  return element instanceof kind ? element : null;
}

/**
 * Every element that a selector means.
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {HTMLElement[]}
 */
export const all = (selector, within = document) => [...within.querySelectorAll(selector)].map(html);

/**
 * The first element that a selector means.
 * @param {string} selector
 * @param {ParentNode} within
 */
export const first = (selector, within = document) => asHtml(within.querySelector(selector));

/**
 * The nearest element around where an event happened that a selector means.
 * @param {Event} event
 * @param {string} selector
 */
export const around = ({ target }, selector) =>
  target instanceof Element ? asHtml(target.closest(selector)) : null;

/**
 * Whether an event happened at an element that a selector means.
 * @param {Event} event
 * @param {string} selector
 */
export const at = ({ target }, selector) => target instanceof Element && target.matches(selector);

/** @param {Element | null} element */
const asHtml = (element) => element && html(element);

/**
 * An SVG element has whatever is asked of one here: data, style, focus.
 * @param {Element} element
 */
const html = (element) => /** @type {HTMLElement} */ (element);
