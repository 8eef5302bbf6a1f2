import { button, byId, h, redraw } from './dom.js';
import { number } from './states.js';
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
 * @property {string[]} heads
 * @property {{ total: number, rows: T[] }} rows
 * @property {(row: T) => Value[]} cells
 */

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
 * @param {List<any>} list
 * @param {string} search
 */
function drawList(list, search) {
  const { id, title, heads, rows, cells } = list;
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
      h(
        'div',
        { class: 'head' },
        h('h2', { id: `${id}-title` }, title),
        h('span', { class: 'count' }, count),
      ),
      shown.length === 0
        ? h('p', { class: 'muted' }, 'Nothing matches the search.')
        : h(
            'div',
            { class: 'scroll' },
            h(
              'table',
              {},
              h(
                'thead',
                {},
                h(
                  'tr',
                  {},
                  heads.map((name) => h('th', { scope: 'col' }, name)),
                ),
              ),
              h(
                'tbody',
                {},
                shown.map((row) =>
                  h(
                    'tr',
                    {},
                    cells(row).map((value) => h('td', {}, value)),
                  ),
                ),
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

/**
 * @param {Dashboard} dashboard
 * @returns {List<any>[]}
 */
function listsOf({ heldPods, failedPods, waitingPods, unprovedPods, duplicateAddresses, repairs }) {
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

/**
 * Draws what is in force, the installation, and the namespaces.
 *
 * @param {Dashboard} dashboard
 */
export function drawSide({ verbs, installation, namespaces, configuration }) {
  redraw(byId('verbs'), [verbs, configuration], () => [
    h('div', { class: 'head' }, h('h2', { id: 'verbs-title' }, 'In force')),
    h(
      'ul',
      { class: 'facts' },
      verbs.map(({ verb, mode, inForce, why }) => fact(inForce, verb, mode, why)),
    ),
    h('p', { class: 'muted small text' }, `Configuration: ${configuration}`),
  ]);
  redraw(byId('installation'), installation, () => [
    h('div', { class: 'head' }, h('h2', { id: 'installation-title' }, 'Installation')),
    h(
      'ul',
      { class: 'facts' },
      installation.map(({ object, inOrder, what }) => fact(inOrder, object, '', what)),
    ),
  ]);
  redraw(byId('namespaces'), namespaces, () => [
    h(
      'div',
      { class: 'head' },
      h('h2', { id: 'namespaces-title' }, 'Namespaces'),
      h('span', { class: 'count' }, number(namespaces.total)),
    ),
    namespaces.total === 0
      ? h('p', { class: 'muted' }, 'No namespace has opted in.')
      : h(
          'div',
          { class: 'scroll short', tabindex: 0, role: 'region', 'aria-label': 'Namespaces that opted in' },
          h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                ['namespace', 'passed', 'failed', 'waiting'].map((name, index) =>
                  h('th', { scope: 'col', class: index > 0 ? 'number' : undefined }, name),
                ),
              ),
            ),
            h(
              'tbody',
              {},
              namespaces.rows.map(({ name, profile, pods }) =>
                h(
                  'tr',
                  {},
                  h(
                    'th',
                    { scope: 'row' },
                    h('span', { class: 'text' }, name),
                    h('span', { class: 'muted small text block' }, profile),
                  ),
                  [pods.passed, pods.failed, pods.waiting].map((count, index) =>
                    h('td', { class: index === 1 && count > 0 ? 'number strong' : 'number' }, number(count)),
                  ),
                ),
              ),
            ),
          ),
        ),
  ]);
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
