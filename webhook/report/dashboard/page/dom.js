/** Elements are made without markup: every text of the cluster becomes a text node. */

/**
 * Makes an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} attributes only `class`, `id`, `scope`, `title`, `data-*` and `aria-*`
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!/^(?:class|id|scope|title|data-[a-z]+|aria-[a-z]+)$/.test(name))
      throw new Error(`attribute ${name} is not allowed`);
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
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
