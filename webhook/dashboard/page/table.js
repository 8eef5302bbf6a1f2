import { h } from './dom.js';

/** @typedef {import('./dom.js').Child} Cell */

/**
 * The head of a section.
 *
 * @param {string} id of the section
 * @param {string} title
 * @param {...Cell} more what stands beside the title
 */
export const sectionHead = (id, title, ...more) =>
  h('div', { class: 'head' }, h('h2', { id: `${id}-title` }, title), ...more);

/** @param {string} text */
export const countOf = (text) => h('span', { class: 'count' }, text);

/**
 * A table whose first cells can be row heads.
 *
 * @param {string[]} heads
 * @param {HTMLTableRowElement[]} rows
 * @param {{ caption?: string, numbers?: number[] }} [options] `numbers`: the columns that have numbers
 */
export function tableOf(heads, rows, { caption, numbers = [] } = {}) {
  const cells = heads.map((name, index) =>
    h('th', { scope: 'col', class: numbers.includes(index) ? 'number' : undefined }, name),
  );
  return h(
    'table',
    {},
    caption === undefined ? null : h('caption', { class: 'hidden' }, caption),
    h('thead', {}, h('tr', {}, cells)),
    h('tbody', {}, rows),
  );
}

/**
 * A row.
 *
 * @param {Cell} name the head of the row; null for none
 * @param {...(Cell | HTMLTableCellElement)} cells those that are no cells yet become one each
 */
export function rowOf(name, ...cells) {
  const head = name === null ? null : h('th', { scope: 'row' }, name);
  const rest = cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : h('td', {}, cell)));
  return h('tr', {}, head, rest);
}

/**
 * A cell with a number.
 *
 * @param {string} text
 * @param {boolean} [strong]
 */
export const numberCell = (text, strong = false) =>
  h('td', { class: strong ? 'number strong' : 'number' }, text);
