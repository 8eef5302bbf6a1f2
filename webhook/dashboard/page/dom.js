/**
 * Elements, made without markup: every text of the cluster becomes a text node. Attributes that run code or load
 * something are refused.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */

const allowed =
  /^(?:class|id|role|type|scope|for|value|title|tabindex|colspan|hidden|selected|data-[a-z]+|aria-[a-z]+)$/;

/**
 * Makes an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes] false and undefined leave one out
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!allowed.test(name)) throw new Error(`attribute ${name} is not allowed`);
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/**
 * Makes a button.
 *
 * @param {Record<string, string | number | boolean | undefined>} attributes
 * @param {() => void} press
 * @param {...Child} children
 */
export function button(attributes, press, ...children) {
  const element = h('button', { type: 'button', ...attributes }, ...children);
  element.addEventListener('click', press);
  return element;
}

/**
 * A link to a page of the documentation; a text where the address is of another kind.
 *
 * @param {string} address
 * @param {string} text
 */
export function docsLink(address, text) {
  if (!address.startsWith('https://')) return h('span', {}, text);
  const link = h('a', {}, text);
  link.href = address;
  link.rel = 'noopener noreferrer';
  link.target = '_blank';
  return link;
}

/**
 * Makes an element of SVG with numbers and classes as attributes.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Child} children
 */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!/^(?:class|[a-z]?[xyr][12]?|d|width|height|viewBox|text-anchor|aria-hidden)$/.test(name))
      throw new Error(`attribute ${name} is not allowed`);
    element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {(Child | Child[])[]} children
 */
function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === 'number' ? String(child) : child);
  }
}

/**
 * The element of the page with this id.
 *
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return /** @type {T} */ (element);
}

/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/**
 * Draws an element again where what it shows is another. The focus stays on the part with the same `data-key`.
 *
 * @param {HTMLElement} element
 * @param {unknown} shown all that the drawing depends on
 * @param {() => Child[]} draw
 */
export function redraw(element, shown, draw) {
  const text = JSON.stringify(shown);
  if (drawn.get(element) === text) return;
  drawn.set(element, text);
  const active = document.activeElement;
  const key = active instanceof HTMLElement && element.contains(active) ? active.dataset.key : undefined;
  element.replaceChildren();
  append(element, draw());
  if (key === undefined) return;
  for (const one of element.querySelectorAll('[data-key]'))
    if (one instanceof HTMLElement && one.dataset.key === key) one.focus();
}
