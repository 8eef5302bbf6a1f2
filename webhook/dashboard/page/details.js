import { button, byId, h } from './dom.js';
import { sign, stateMeanings } from './states.js';
import { age, moment } from './time.js';

/** @typedef {import('./data.js').NodeView} NodeView */
/** @typedef {import('../model.ts').Dashboard} Dashboard */

/**
 * Shows all that is known about a node.
 *
 * @param {NodeView} node
 * @param {Dashboard} dashboard
 */
export function openDetails(node, { networks, heldPods, failedPods, waitingPods }) {
  const dialog = /** @type {HTMLDialogElement} */ (byId('details'));
  const place = [node.zone && `zone ${node.zone}`, node.group && `group ${node.group}`]
    .filter(Boolean)
    .join(', ');
  const parts = networks.map((network, index) => {
    const cell = node.cells[index];
    const proofs = node.proved.filter(([profile]) => network.profiles.includes(profile));
    return h(
      'section',
      { class: 'detail' },
      h('h3', {}, network.name, network.inUse ? null : h('span', { class: 'muted' }, ' not in use')),
      cell
        ? h(
            'p',
            {},
            h('span', { class: 'state', 'data-state': cell.state }, sign(cell.state), cell.state),
            cell.since === null
              ? null
              : h('span', { class: 'muted' }, ` for ${age(cell.since)}, since ${moment(cell.since)}`),
          )
        : h('p', { class: 'muted' }, 'Nothing is known.'),
      cell?.why
        ? h('p', { class: 'text' }, cell.why)
        : cell
          ? h('p', { class: 'muted' }, stateMeanings[cell.state] ?? '')
          : null,
      cell?.pod ? h('p', { class: 'muted' }, 'Pod ', h('code', {}, cell.pod)) : null,
      proofs.map(([profile, pod, at]) =>
        h(
          'p',
          { class: 'muted' },
          `Proved for ${profile} by `,
          h('code', {}, pod),
          at === null ? '' : `, ${age(at)} ago`,
        ),
      ),
    );
  });
  const pods = [
    ...heldPods.rows
      .filter(({ refused }) => refused === node.name)
      .map((pod) => ({ pod, what: 'held off this node' })),
    ...failedPods.rows.filter((pod) => pod.node === node.name).map((pod) => ({ pod, what: 'proof failed' })),
    ...waitingPods.rows.filter((pod) => pod.node === node.name).map((pod) => ({ pod, what: 'waiting' })),
  ];
  dialog.replaceChildren(
    h(
      'div',
      { class: 'head' },
      h('h2', { id: 'details-title' }, node.name),
      button({ class: 'quiet', 'aria-label': 'Close' }, () => dialog.close(), '✕'),
    ),
    h('p', { class: 'muted' }, place),
    ...parts,
  );
  if (pods.length > 0)
    dialog.append(
      h('h3', {}, 'Pods'),
      h(
        'ul',
        { class: 'plain' },
        pods.map(({ pod, what }) =>
          h(
            'li',
            {},
            h('code', {}, `${pod.namespace}/${pod.name}`),
            ` ${what}`,
            pod.why ? h('p', { class: 'text muted' }, pod.why) : null,
          ),
        ),
      ),
    );
  dialog.showModal();
}
