import { isTrouble, stateOrder } from './states.js';

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
 * @property {string | undefined} text all that a search finds, in lower case; made by the first search
 */

/** @typedef {{ search: string, states: Set<string>, network: number, zone?: string | undefined, group?: string | undefined, order: string }} Filter */

/**
 * The place of each node by its name. It stays while the nodes are the same: to compare thousands of names takes longer
 * than all else that an update does.
 *
 * @type {Map<string, number>}
 */
let places = new Map();

const names = new Intl.Collator('en', { numeric: true });

/** @param {Dashboard['nodes']} nodes */
function placesOf(nodes) {
  if (nodes.length !== places.size || nodes.some(({ name }) => !places.has(name))) {
    const ordered = nodes.map(({ name }) => name).sort(names.compare);
    places = new Map(ordered.map((name, index) => [name, index]));
  }
  return places;
}

/**
 * The nodes with their texts, in the order of their names.
 *
 * @param {Dashboard} dashboard
 * @returns {NodeView[]}
 */
export function viewNodes({ nodes, states, texts }) {
  const place = placesOf(nodes);
  /** @param {{ name: string }} node */
  const placeOf = ({ name }) => place.get(name) ?? 0;
  const found = nodes.map(({ name, zone, group, cells, proved }) => {
    const views = cells.map((cell) => {
      if (cell === null) return null;
      const [state, since, pod, why] = cell;
      return { state: states[state] ?? 'unknown', since, pod, why: texts[why] ?? '' };
    });
    return { name, zone, group, cells: views, proved, text: undefined };
  });
  return found.sort((one, other) => placeOf(one) - placeOf(other));
}

/** @param {NodeView} node */
function searchText(node) {
  if (node.text === undefined) {
    const { name, zone, group, cells } = node;
    const found = cells.flatMap((cell) => (cell === null ? [] : [cell.pod ?? '', cell.why]));
    node.text = [name, zone, group, ...found].join('\n').toLowerCase();
  }
  return node.text;
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

const ranks = new Map(stateOrder.map((state, index) => [state, index]));

/** @param {string} state */
const rankOf = (state) => ranks.get(state) ?? -1;

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
    const own = rankOf(state);
    if (state === 'exempt' || own >= rank) continue;
    found = state;
    rank = own;
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
      words.every((word) => searchText(node).includes(word)),
  );
  return sorted(left, network, order);
}

/**
 * @param {NodeView[]} nodes in the order of their names, which stays where nothing else decides
 * @param {number} network
 * @param {string} order
 */
function sorted(nodes, network, order) {
  if (order === 'name') return nodes;
  const keyed = nodes.map((node) => ({ node, keys: keysOf(node, network, order) }));
  return keyed
    .sort(({ keys: one }, { keys: other }) => one[0] - other[0] || one[1] - other[1])
    .map(({ node }) => node);
}

/** Later than any time. */
const never = Number.MAX_SAFE_INTEGER;

/**
 * The keys of an order: the worst state and since when, or the latest change.
 *
 * @param {NodeView} node
 * @param {number} network
 * @param {string} order
 * @returns {[number, number]}
 */
function keysOf(node, network, order) {
  const cells = chosen(node, network);
  if (order === 'since') return [-Math.max(0, ...cells.map(({ since }) => since ?? 0)), 0];
  const state = worst(node, network);
  const times = cells.filter((cell) => cell.state === state).map(({ since }) => since ?? never);
  return [rankOf(state), Math.min(never, ...times)];
}

/**
 * The cell of a node that asks for somebody first and longest; undefined if nothing is wrong there.
 *
 * @param {NodeView} node
 * @returns {CellView | undefined}
 */
export function troubleOf(node) {
  const state = worst(node, -1);
  if (!isTrouble(state)) return undefined;
  return chosen(node, -1)
    .filter((cell) => cell.state === state)
    .sort((one, other) => (one.since ?? never) - (other.since ?? never))[0];
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
