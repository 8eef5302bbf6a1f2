import { button, byId, docsLink, h, redraw } from './dom.js';
import { number } from './states.js';
import { countOf, sectionHead } from './table.js';

/** @typedef {import('../model.ts').Dashboard} Dashboard */

/**
 * The verdict, the counts, and the faults.
 *
 * @param {Dashboard} dashboard
 * @param {number} troubled nodes that are not ready
 */
export function drawSummary(dashboard, troubled) {
  const { verdict, headline, nodes, notKnown } = dashboard;
  const section = byId('verdict');
  section.dataset.verdict = verdict;
  redraw(section, [verdict, headline, notKnown], () => [
    h('p', { class: 'verdict-word text' }, headline),
    verdict !== 'not-known' && notKnown.length > 0
      ? h('p', { class: 'verdict-text' }, `Not known: ${notKnown.join('; ')}.`)
      : null,
  ]);
  drawTiles(dashboard, troubled, nodes.length);
  drawFaults(dashboard.faults);
}

/**
 * @param {Dashboard} dashboard
 * @param {number} troubled
 * @param {number} all
 */
function drawTiles(dashboard, troubled, all) {
  const { heldPods, failedPods, waitingPods, unprovedPods, duplicateAddresses, pods } = dashboard;
  const tiles = /** @type {[string, number, string, string][]} */ ([
    ['nodes', troubled, 'Nodes not ready', `of ${number(all)}`],
    ['heldPods', heldPods.total, 'Pods held', 'by the gate'],
    ['failedPods', failedPods.total, 'Proofs failed', `${number(pods.passed)} passed`],
    ['waitingPods', waitingPods.total, 'Pods waiting', 'a minute or more'],
    ['unprovedPods', unprovedPods.total, 'Without a proof', 'but running'],
    ['duplicateAddresses', duplicateAddresses.total, 'Duplicate addresses', 'on live pods'],
  ]);
  redraw(byId('tiles'), tiles, () =>
    tiles.map(([id, count, name, more]) =>
      button(
        { class: count > 0 ? 'tile bad' : 'tile', 'data-key': id },
        () => goTo(id),
        h('span', { class: 'tile-name' }, name),
        h('span', { class: 'tile-count' }, number(count)),
        h('span', { class: 'tile-more' }, more),
      ),
    ),
  );
}

/**
 * Moves the focus to a section; to the lists where it has none of its own.
 *
 * @param {string} id
 */
export function goTo(id) {
  const section = document.getElementById(id) ?? byId('nothing');
  section.scrollIntoView({ block: 'start' });
  section.focus({ preventScroll: true });
}

/** @param {Dashboard['faults']} faults */
function drawFaults(faults) {
  const section = byId('faults');
  section.hidden = faults.length === 0;
  redraw(section, faults, () => [
    sectionHead('faults', 'Faults', countOf(number(faults.length))),
    h(
      'ol',
      { class: 'faults' },
      faults.map(({ code, message, meaning, page }) =>
        h(
          'li',
          {},
          h('p', { class: 'text fault' }, message),
          h('p', { class: 'muted' }, `${meaning} `, docsLink(page, `What to do: ${code}`)),
        ),
      ),
    ),
  ]);
}
