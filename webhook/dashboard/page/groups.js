import { countStates } from './data.js';
import { button, byId, h, redraw } from './dom.js';
import { isTrouble, number, sign, stateMeanings, stateOrder } from './states.js';
import { numberCell, rowOf, tableOf } from './table.js';

/** @typedef {import('./data.js').NodeView} NodeView */
/** @typedef {import('./data.js').Filter} Filter */
/** @typedef {import('../model.ts').Network} Network */

/** Groups that are shown: more are no overview. */
const most = 40;

/**
 * The states as buttons that filter, with how many nodes are in each.
 *
 * @param {NodeView[]} nodes
 * @param {Filter} filter
 * @param {(state: string) => void} toggle
 */
export function drawChips(nodes, filter, toggle) {
  const counts = countStates(nodes, filter.network);
  const shown = stateOrder.filter((state) => (counts.get(state) ?? 0) > 0 || filter.states.has(state));
  const pairs = shown.map((state) => [state, counts.get(state) ?? 0, filter.states.has(state)]);
  redraw(byId('chips'), pairs, () =>
    shown.map((state) =>
      button(
        {
          class: 'chip',
          'data-key': state,
          'data-state': state,
          title: stateMeanings[state],
          'aria-pressed': String(filter.states.has(state)),
        },
        () => toggle(state),
        sign(state),
        `${state} `,
        h('b', {}, number(counts.get(state) ?? 0)),
      ),
    ),
  );
}

/**
 * Nodes by zone or node group, with the states of each network.
 *
 * @param {NodeView[]} nodes
 * @param {Network[]} networks
 * @param {string} grouping
 * @param {Filter} filter
 * @param {(group: { zone: string | undefined, group: string | undefined } | undefined) => void} choose undefined for all
 */
export function drawGroups(nodes, networks, grouping, filter, choose) {
  /** @type {Map<string, { zone: string | undefined, group: string | undefined, nodes: NodeView[] }>} */
  const groups = new Map();
  for (const node of nodes) {
    const zone = grouping === 'group' ? undefined : node.zone;
    const group = grouping === 'zone' ? undefined : node.group;
    const key = JSON.stringify([zone, group]);
    const known = groups.get(key);
    if (known) known.nodes.push(node);
    else groups.set(key, { zone, group, nodes: [node] });
  }
  const columns = networks
    .map((network, index) => ({ network, index }))
    .filter(({ network }) => network.inUse);
  const rows = Array.from(groups, ([key, { zone, group, nodes: members }]) => {
    const counts = columns.map(({ index }) =>
      [...countStates(members, index)].filter(([, count]) => count > 0),
    );
    const troubles = counts.flat().reduce((sum, [state, count]) => sum + (isTrouble(state) ? count : 0), 0);
    return { key, zone, group, size: members.length, counts, troubles };
  })
    .sort((one, other) => other.troubles - one.troubles || (one.key < other.key ? -1 : 1))
    .slice(0, most);
  const names = columns.map(({ network }) => network.name);
  redraw(byId('groups'), [rows, names, grouping, filter.zone, filter.group, groups.size], () => {
    if (nodes.length === 0) return [];
    const heads = [groupingName(grouping), 'nodes', ...names];
    const body = rows.map((row) => {
      const isChosen =
        filter.zone === row.zone && filter.group === row.group && (row.zone ?? row.group) !== undefined;
      const parts = [row.zone, row.group].filter((part) => part !== undefined).map((part) => part || 'none');
      const chooser = button(
        { class: 'group-name', 'data-key': row.key, 'aria-pressed': String(isChosen) },
        () => choose(isChosen ? undefined : row),
        parts.join(' / '),
      );
      const bars = row.counts.map((counts) => h('td', {}, stateBar(counts)));
      const element = rowOf(chooser, numberCell(number(row.size)), ...bars);
      if (isChosen) element.classList.add('chosen');
      return element;
    });
    const rest = groups.size - rows.length;
    return [
      tableOf(heads, body, {
        caption: `States of networks by ${groupingName(grouping)}`,
        numbers: [1],
      }),
      rest > 0
        ? h('p', { class: 'muted' }, `${number(rest)} groups more, all with fewer nodes that are not ready.`)
        : null,
    ];
  });
}

/** @param {string} grouping */
const groupingName = (grouping) =>
  ({ zone: 'zone', group: 'node group', both: 'zone / node group' })[grouping] ?? grouping;

/**
 * Counts as a bar, and in words.
 *
 * @param {[string, number][]} counts
 */
function stateBar(counts) {
  const bar = h('span', { class: 'stack', 'aria-hidden': 'true' });
  for (const [state, count] of counts) {
    const part = h('span', { class: 'stack-part', 'data-state': state });
    part.style.flexGrow = String(count);
    bar.append(part);
  }
  const words = counts.filter(([state]) => state !== 'ready' && state !== 'exempt');
  const ready = counts.find(([state]) => state === 'ready')?.[1] ?? 0;
  const text =
    words.length === 0
      ? ready > 0
        ? 'all ready'
        : 'exempt'
      : words.map(([state, count]) => `${number(count)} ${state}`).join(', ');
  return h(
    'span',
    { class: 'bar-cell' },
    bar,
    h('span', { class: words.some(([state]) => isTrouble(state)) ? 'bar-text strong' : 'bar-text' }, text),
  );
}
