import { age } from './time.js';

/** @typedef {import('../server.ts').Dashboard} Dashboard */
/** @typedef {{ text: string, tone?: 'good' | 'pending' | 'bad', isSentence?: true }} Cell */
/** @typedef {{ id: string, title: string, heads: string[], rows: Cell[][] }} Table */

const tones = /** @type {Record<string, Cell['tone']>} */ ({
  ready: 'good',
  proved: 'good',
  passed: 'good',
  yes: 'good',
  starting: 'pending',
  rebooted: 'pending',
  unproved: 'pending',
  warning: 'pending',
  'not known': 'pending',
  'not-known': 'pending',
  broken: 'bad',
  absent: 'bad',
  failing: 'bad',
  failed: 'bad',
  no: 'bad',
});

/** @param {string | number | null} text @returns {Cell} */
const cell = (text) => ({ text: String(text ?? '') });

/** @param {string} text @returns {Cell} */
const state = (text) => ({ text, ...(tones[text] && { tone: tones[text] }) });

/** @param {string} text @returns {Cell} */
const sentence = (text) => ({ text, isSentence: true });

/** @param {boolean | null} value null: not known */
const yesOrNo = (value) => state(value === null ? 'not known' : value ? 'yes' : 'no');

/** @param {{ namespace: string, name: string }} pod */
const podName = ({ namespace, name }) => cell(`${namespace}/${name}`);

/**
 * The tables of the page, in their order.
 *
 * @param {Dashboard} status
 * @param {number} now milliseconds since the epoch, to which ages are counted
 * @returns {Table[]}
 */
export function tablesOf(status, now) {
  /** @param {string | null} time */
  const since = (time) => cell(age(time, now));
  return [
    {
      id: 'faults',
      title: 'Faults',
      heads: ['fault', 'code'],
      rows: status.faults.map(({ code, message }) => [sentence(message), cell(code)]),
    },
    ...podTables(status, since),
    {
      id: 'nodes',
      title: 'Nodes',
      heads: ['node', 'network', 'state', 'for', 'pod', 'why'],
      rows: nodeRows(status, since),
    },
    {
      id: 'namespaces',
      title: 'Namespaces',
      heads: ['namespace', 'profile', 'passed', 'failed', 'waiting', 'unproved'],
      rows: status.namespaces.map(({ name, profile, pods }) =>
        [name, profile, pods.passed, pods.failed, pods.waiting, pods.unproved].map(cell),
      ),
    },
    {
      id: 'features',
      title: 'Features',
      heads: ['feature', 'mode', 'in force', 'why'],
      rows: status.features.map(({ feature, mode, inForce, why }) => [
        cell(feature),
        cell(mode),
        yesOrNo(inForce),
        sentence(why),
      ]),
    },
    {
      id: 'installation',
      title: 'Installation',
      heads: ['check', 'result', 'what'],
      rows: status.installation.map(({ id, result, what }) => [cell(id), state(result), sentence(what)]),
    },
  ];
}

/**
 * Each network on each node, and profiles without a DaemonSet whose proofs fail there.
 *
 * @param {Dashboard} status
 * @param {(time: string | null) => Cell} since
 */
function nodeRows({ nodes, nodeProofs, daemonSets }, since) {
  const covered = new Set(daemonSets.flatMap(({ profiles }) => profiles));
  return [
    ...nodeProofs
      .filter(({ profile, state: is }) => !covered.has(profile) && is === 'failing')
      .map((one) => [
        cell(one.node),
        cell(one.profile),
        state(one.state),
        cell(''),
        cell(''),
        sentence(one.why),
      ]),
    ...nodes.map((one) => [
      cell(one.node),
      cell(one.daemonSet),
      state(one.state),
      since(one.since),
      cell(one.pod),
      sentence(one.why),
    ]),
  ];
}

/**
 * @param {Dashboard} status
 * @param {(time: string | null) => Cell} since
 * @returns {Table[]}
 */
function podTables(status, since) {
  return [
    {
      id: 'heldPods',
      title: 'Held pods',
      heads: ['pod', 'held for', 'refused on', 'nominated', 'why', 'not nominated'],
      rows: status.heldPods.map((pod) => [
        podName(pod),
        since(pod.since),
        cell(pod.refused),
        cell(pod.nominated),
        sentence(pod.why),
        sentence(pod.notNominated ?? ''),
      ]),
    },
    {
      id: 'failedPods',
      title: 'Failed proofs',
      heads: ['pod', 'failed for', 'node', 'what the checks saw', 'repair'],
      rows: status.failedPods.map((pod) => [
        podName(pod),
        since(pod.since),
        cell(pod.node),
        sentence(pod.why),
        sentence(pod.repair ?? ''),
      ]),
    },
    {
      id: 'waitingPods',
      title: 'Pods that wait on their node',
      heads: ['pod', 'for', 'node', 'why'],
      rows: status.waitingPods.map((pod) => [
        podName(pod),
        since(pod.since),
        cell(pod.node),
        sentence(pod.why),
      ]),
    },
    {
      id: 'unprovedPods',
      title: 'Pods without a proof',
      heads: ['pod', 'node', 'why'],
      rows: status.unprovedPods.map((pod) => [podName(pod), cell(pod.node), sentence(pod.why)]),
    },
    {
      id: 'duplicateAddresses',
      title: 'Duplicate addresses',
      heads: ['address', 'network', 'older pod', 'younger pod', 'nodes'],
      rows: status.duplicateAddresses.map(({ address, network, pods, nodes }) => [
        cell(address),
        cell(network ?? 'of the cluster'),
        cell(pods[0] ?? ''),
        cell(pods[1] ?? ''),
        cell(nodes.join(', ')),
      ]),
    },
  ];
}
