import { button, byId, h, redraw } from './dom.js';
import { listsOf } from './lists.js';
import { number } from './states.js';
import { countOf, rowOf, sectionHead, tableOf } from './table.js';

/** @typedef {import('../model.ts').Dashboard} Dashboard */

/** Rows that are shown at first, and with each press of the button. */
const step = 8;

/** @type {Map<string, number>} */
const shownRows = new Map();

/**
 * Draws the lists of pods: those that have rows as tables, the others in one line.
 *
 * @param {Dashboard} dashboard
 * @param {string} search
 */
export function drawLists(dashboard, search) {
  const lists = listsOf(dashboard);
  const parent = byId('lists');
  const filled = lists.filter(({ rows }) => rows.total > 0);
  const empty = lists.filter(({ rows }) => rows.total === 0).map(({ none }) => none);
  const wanted = [...filled.map(({ id }) => id), ...(empty.length > 0 ? ['nothing'] : [])];
  const present = Array.from(parent.children, ({ id }) => id);
  if (wanted.join() !== present.join())
    parent.replaceChildren(
      ...wanted.map(
        (id) =>
          document.getElementById(id) ??
          h('section', { id, class: id === 'nothing' ? 'nothing' : 'card', tabindex: -1 }),
      ),
    );
  for (const list of filled) drawList(list, search);
  if (empty.length > 0) redraw(byId('nothing'), empty, () => [h('p', {}, `None: ${empty.join(', ')}.`)]);
}

/**
 * @param {import('./lists.js').List<any>} list
 * @param {string} search
 */
function drawList(list, search) {
  const { id, title, note, heads, rows, cells } = list;
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.rows.filter((row) => {
    const text = JSON.stringify(Object.values(row)).toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const limit = shownRows.get(id) ?? step;
  const shown = found.slice(0, limit);
  const count = words.length === 0 ? number(rows.total) : `${number(found.length)} of ${number(rows.total)}`;
  // ages change by themselves
  const now = Math.floor(Date.now() / 30_000);
  redraw(byId(id), [shown, count, limit, found.length, now], () => {
    byId(id).setAttribute('aria-labelledby', `${id}-title`);
    const more = found.length - shown.length;
    const left = rows.total - rows.rows.length;
    return [
      sectionHead(id, title, countOf(count)),
      note === undefined ? null : h('p', { class: 'muted small note' }, note),
      shown.length === 0
        ? h('p', { class: 'muted' }, 'Nothing matches the search.')
        : h(
            'div',
            { class: 'scroll' },
            tableOf(
              heads,
              shown.map((row) =>
                rowOf(null, ...cells(row).map((cell, at) => h('td', { 'data-head': heads[at] }, cell))),
              ),
            ),
          ),
      more > 0
        ? button(
            { class: 'more', 'data-key': `${id}-more` },
            () => {
              shownRows.set(id, limit + 5 * step);
              drawList(list, search);
            },
            `Show more (${number(more)})`,
          )
        : null,
      left > 0
        ? h('p', { class: 'muted' }, `${number(left)} more are not on this page: cni-gate status has them.`)
        : null,
    ];
  });
}
