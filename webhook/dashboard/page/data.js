import { stateOrder } from './states.js';

/** @typedef {import('../model.ts').Dashboard} Dashboard */
/** @typedef {{ state: string, since: number | null, pod: string | null, why: string }} CellView */

/**
 * A row of the matrix.
 *
 * @typedef {object} NodeView
 * @property {string} name
 * @property {string} zone
 * @property {string} group
 * @property {(CellView | null)[]} cells
 * @property {import('../model.ts').Proved[]} proved
 * @property {string} text all that a search finds, in lower case
 */

/** @typedef {{ search: string, states: Set<string>, network: number, zone?: string | undefined, group?: string | undefined, order: string }} Filter */

/**
 * The nodes with their texts.
 *
 * @param {Dashboard} dashboard
 * @returns {NodeView[]}
 */
export function viewNodes({ nodes, states, texts }) {
  return nodes.map(({ name, zone, group, cells, proved }) => {
    const views = cells.map((cell) => {
      if (cell === null) return null;
      const [state, since, pod, why] = cell;
      return { state: states[state] ?? 'unknown', since, pod, why: texts[why] ?? '' };
    });
    const found = views.flatMap((cell) => (cell === null ? [] : [cell.pod ?? '', cell.why]));
    const text = [name, zone, group, ...found].join('\n').toLowerCase();
    return { name, zone, group, cells: views, proved, text };
  });
}

/**
 * The cells of a node that a choice of network leaves.
 *
 * @param {NodeView} node
 * @param {number} network index, or -1 for all
 * @returns {CellView[]}
 */
export const chosen = ({ cells }, network) =>
  (network < 0 ? cells : [cells[network] ?? null]).flatMap((cell) => cell ?? []);

/** @param {string} state */
const rankOf = (state) => stateOrder.indexOf(state);

/**
 * The state of a node that asks for somebody first.
 *
 * @param {NodeView} node
 * @param {number} network index, or -1 for all
 * @returns {string}
 */
export function worst(node, network) {
  let found = 'exempt';
  let rank = Number.POSITIVE_INFINITY;
  for (const { state } of chosen(node, network)) {
    if (state !== 'exempt' && rankOf(state) < rank) {
      found = state;
      rank = rankOf(state);
    }
  }
  return found;
}

/**
 * The nodes that a filter leaves, in its order.
 *
 * @param {NodeView[]} nodes
 * @param {Filter} filter
 */
export function filtered(nodes, { search, states, network, zone, group, order }) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const left = nodes.filter(
    (node) =>
      (zone === undefined || node.zone === zone) &&
      (group === undefined || node.group === group) &&
      (states.size === 0 || states.has(worst(node, network))) &&
      words.every((word) => node.text.includes(word)),
  );
  return sorted(left, network, order);
}

/**
 * @param {NodeView[]} nodes
 * @param {number} network
 * @param {string} order
 */
function sorted(nodes, network, order) {
  /** @param {NodeView} one @param {NodeView} other */
  const byName = (one, other) => names.compare(one.name, other.name);
  const keyed = nodes.map((node) => ({ node, key: keyOf(node, network, order) }));
  return keyed
    .sort((one, other) => one.key - other.key || byName(one.node, other.node))
    .map(({ node }) => node);
}

const names = new Intl.Collator('en', { numeric: true });

/**
 * @param {NodeView} node
 * @param {number} network
 * @param {string} order
 */
function keyOf(node, network, order) {
  if (order === 'state') return rankOf(worst(node, network));
  if (order === 'since') return -Math.max(0, ...chosen(node, network).map(({ since }) => since ?? 0));
  return 0;
}

/**
 * How many nodes are in each state.
 *
 * @param {NodeView[]} nodes
 * @param {number} network
 * @returns {Map<string, number>}
 */
export function countStates(nodes, network) {
  const counts = new Map(stateOrder.map((state) => [state, 0]));
  for (const node of nodes) {
    const state = worst(node, network);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}
