import { h } from './dom.js';
import { age, moment, secondsOf } from './time.js';

/** @typedef {import('../model.ts').Dashboard} Dashboard */
/** @typedef {Node | string} Value */

/**
 * A list of the page.
 *
 * @template T
 * @typedef {object} List
 * @property {string} id
 * @property {string} title
 * @property {string} none what is said where the list is empty
 * @property {string} [note] what the reader has to know of the list
 * @property {string[]} heads
 * @property {{ total: number, rows: T[] }} rows
 * @property {(row: T) => Value[]} cells
 */

/**
 * The lists of pods, in the order of display.
 *
 * @param {Dashboard} dashboard
 * @returns {List<any>[]}
 */
export function listsOf({ heldPods, failedPods, waitingPods, unprovedPods, duplicateAddresses, repairs }) {
  /** @type {List<Dashboard['heldPods']['rows'][number]>} */
  const held = {
    id: 'heldPods',
    title: 'Held pods',
    none: 'held pods',
    heads: ['pod', 'held', 'refused on', 'sent to', 'why'],
    rows: heldPods,
    cells: ({ namespace, name, since, refused, nominated, unsent, why }) => [
      podName(`${namespace}/${name}`),
      ageOf(since),
      code(refused),
      nominated === null ? h('span', { class: 'muted text' }, unsent?.why ?? 'nowhere') : sentTo(nominated),
      reason(why),
    ],
  };
  /** @type {List<Dashboard['failedPods']['rows'][number]>} */
  const failed = {
    id: 'failedPods',
    title: 'Failed proofs',
    none: 'failed proofs',
    heads: ['pod', 'failed', 'node', 'what the checks saw', 'repair'],
    rows: failedPods,
    cells: ({ namespace, name, since, node, why, repair }) => [
      podName(`${namespace}/${name}`),
      ageOf(since),
      code(node ?? ''),
      reason(why),
      repair === null ? h('span', { class: 'muted' }, 'said nothing') : reason(repair),
    ],
  };
  const gone = repairs.filter((step) => step.gone);
  /** @type {List<Dashboard['repairs'][number]>} */
  const repaired = {
    id: 'repairs',
    title: 'Repairs',
    none: 'repairs',
    note: 'Of pods that are gone: as far back as the cluster keeps events, an hour by default, and what was seen since this page was started.',
    heads: ['pod', 'seen', 'node', 'what repair said before the pod was gone'],
    rows: { total: gone.length, rows: gone },
    cells: ({ pod, seen, node, note }) => [podName(pod), ageOf(seen), code(node ?? ''), reason(note)],
  };
  /** @type {List<Dashboard['duplicateAddresses']['rows'][number]>} */
  const duplicates = {
    id: 'duplicateAddresses',
    title: 'Duplicate addresses',
    none: 'duplicate addresses',
    heads: ['address', 'network', 'older pod', 'younger pod'],
    rows: duplicateAddresses,
    cells: ({ network, address, pods, nodes }) => [
      code(address),
      network ?? 'of the cluster',
      h('span', {}, podName(pods[0] ?? ''), ' on ', code(nodes[0] ?? '')),
      h('span', {}, podName(pods[1] ?? ''), ' on ', code(nodes[1] ?? '')),
    ],
  };
  /** @type {List<Dashboard['waitingPods']['rows'][number]>} */
  const waiting = {
    id: 'waitingPods',
    title: 'Pods that wait on their node',
    none: 'pods that wait on their node',
    heads: ['pod', 'waiting', 'node', 'for', 'why'],
    rows: waitingPods,
    cells: ({ namespace, name, since, node, reason: what, why }) => [
      podName(`${namespace}/${name}`),
      ageOf(since),
      code(node),
      what,
      reason(why),
    ],
  };
  /** @type {List<Dashboard['unprovedPods']['rows'][number]>} */
  const unproved = {
    id: 'unprovedPods',
    title: 'Pods without a proof',
    none: 'pods without a proof',
    heads: ['pod', 'node', 'why'],
    rows: unprovedPods,
    cells: ({ namespace, name, node, why }) => [
      podName(`${namespace}/${name}`),
      code(node ?? ''),
      reason(why),
    ],
  };
  return [held, failed, repaired, duplicates, waiting, unproved];
}

/** @param {string} text */
const code = (text) => h('code', { class: 'text node' }, text);

/** @param {string} text */
const podName = (text) => h('code', { class: 'text pod' }, text);

/** @param {string} text */
const reason = (text) => h('span', { class: 'text reason' }, text);

/** @param {string} node */
const sentTo = (node) => h('span', { class: 'sent' }, '→ ', code(node));

/** @param {string | null} time RFC 3339 */
const ageOf = (time) => h('span', { class: 'age', title: moment(secondsOf(time)) }, age(secondsOf(time)));
