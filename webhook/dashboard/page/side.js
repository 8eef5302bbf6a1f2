import { byId, h, redraw } from './dom.js';
import { number } from './states.js';
import { countOf, numberCell, rowOf, sectionHead, tableOf } from './table.js';

/** @typedef {import('../model.ts').Dashboard} Dashboard */

/**
 * Draws what is in force, the installation, and the namespaces.
 *
 * @param {Dashboard} dashboard
 */
export function drawSide({ verbs, installation, namespaces, configuration }) {
  redraw(byId('verbs'), [verbs, configuration], () => [
    sectionHead('verbs', 'In force'),
    h(
      'ul',
      { class: 'facts' },
      verbs.map(({ verb, mode, inForce, why }) => fact(inForce, verb, mode, why)),
    ),
    h('p', { class: 'muted small text' }, `Configuration: ${configuration}`),
  ]);
  redraw(byId('installation'), installation, () => [
    sectionHead('installation', 'Installation'),
    h(
      'ul',
      { class: 'facts' },
      installation.map(({ object, inOrder, what }) => fact(inOrder, object, '', what)),
    ),
  ]);
  redraw(byId('namespaces'), namespaces, () => [
    sectionHead('namespaces', 'Namespaces', countOf(number(namespaces.total))),
    namespaces.total === 0
      ? h('p', { class: 'muted' }, 'No namespace has opted in.')
      : h(
          'div',
          { class: 'scroll short', tabindex: 0, role: 'region', 'aria-label': 'Namespaces that opted in' },
          tableOf(['namespace', 'passed', 'failed', 'waiting'], namespaces.rows.map(namespaceRow), {
            numbers: [1, 2, 3],
          }),
        ),
  ]);
}

/** @param {Dashboard['namespaces']['rows'][number]} namespace */
function namespaceRow({ name, profile, pods }) {
  const head = h(
    'div',
    {},
    h('span', { class: 'text' }, name),
    h('span', { class: 'muted small text block' }, profile),
  );
  const { passed, failed, waiting } = pods;
  return rowOf(
    head,
    numberCell(number(passed)),
    numberCell(number(failed), failed > 0),
    numberCell(number(waiting)),
  );
}

/**
 * @param {boolean | null} good null where that is not known
 * @param {string} name
 * @param {string} value
 * @param {string} why
 */
function fact(good, name, value, why) {
  const [mark, word] = good === null ? ['?', 'not known'] : good ? ['✓', 'yes'] : ['✕', 'no'];
  return h(
    'li',
    {},
    h('span', { class: 'mark', 'data-good': String(good), 'aria-hidden': 'true' }, mark),
    h('span', { class: 'hidden' }, `${word}: `),
    h(
      'span',
      { class: 'text' },
      h('b', {}, name),
      value ? ` ${value}` : '',
      why ? h('span', { class: 'muted block' }, why) : null,
    ),
  );
}
