import { byId, h } from './dom.js';

/** @typedef {import('./rows.js').Table} Table */
/** @typedef {import('./rows.js').Cell} Cell */

/** Rows of a table that are drawn: a browser is slow with many thousands. The filter looks at all of them. */
const mostRows = 200;

/**
 * Draws the tables that have rows.
 *
 * @param {Table[]} tables
 * @param {string} filter words; rows that lack one of them are left out
 */
export function drawTables(tables, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const filled = tables.filter(({ rows }) => rows.length > 0);
  byId('tables').replaceChildren(...filled.map((table) => sectionOf(table, words)));
}

/**
 * @param {Table} table
 * @param {string[]} words
 */
function sectionOf({ id, title, heads, rows }, words) {
  const found = rows.filter((row) => {
    const text = row
      .map((cell) => cell.text)
      .join('\n')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const count = words.length === 0 ? String(rows.length) : `${found.length} of ${rows.length}`;
  const more = found.length - mostRows;
  const head = h('tr', {}, ...heads.map((name) => h('th', { scope: 'col' }, name)));
  const table = h(
    'table',
    {},
    h('thead', {}, head),
    h('tbody', {}, ...found.slice(0, mostRows).map((row) => h('tr', {}, ...row.map(cellOf)))),
  );
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, `${title} `, h('span', { class: 'muted count' }, count)),
    h('div', { class: 'scroll' }, table),
    more > 0 ? h('p', { class: 'muted' }, `and ${more} more: filter to see them`) : '',
  );
}

/** @param {Cell} cell */
const cellOf = ({ text, tone, isSentence }) =>
  h('td', { ...(tone && { 'data-tone': tone }), ...(isSentence && { class: 'text' }) }, text);
