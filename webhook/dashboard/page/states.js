import { h } from './dom.js';

/** All states of a network on a node: those that ask for somebody first. */
export const stateOrder = [
  'broken',
  'failing',
  'absent',
  'rebooted',
  'starting',
  'unproved',
  'exempt',
  'ready',
];

/** A sign for each state, so that none is told by its colour alone. */
const signs = /** @type {Record<string, string>} */ ({
  broken: '✕',
  failing: '!',
  absent: '∅',
  rebooted: '↻',
  starting: '…',
  unproved: '?',
  exempt: '–',
  ready: '✓',
});

/** What each state means, for tooltips. */
export const stateMeanings = /** @type {Record<string, string>} */ ({
  broken: "The DaemonSet's pod has not been Ready for longer than the grace.",
  failing: 'Proofs of pods fail there, although the pod of the DaemonSet is Ready.',
  absent: 'The DaemonSet should run there and has no pod.',
  rebooted: 'The node rebooted, and no container of the pod has started since.',
  starting: 'The pod is not Ready, and pod or node is young.',
  unproved: 'No proof of a pod has passed there yet.',
  exempt: 'The DaemonSet does not run there.',
  ready: "The DaemonSet's pod is Ready.",
});

/** @param {string} state */
export const isTrouble = (state) => stateOrder.indexOf(state) >= 0 && stateOrder.indexOf(state) < 5;

/** @param {string} state */
export const sign = (state) =>
  h('span', { class: 'sign', 'data-state': state, 'aria-hidden': 'true' }, signs[state] ?? '?');

/** @param {number} count */
export const number = (count) => count.toLocaleString('en');
