import { drawChart } from './chart.js';
import { filtered, viewNodes, worst } from './data.js';
import { openDetails } from './details.js';
import { byId, h } from './dom.js';
import { drawChips, drawGroups } from './groups.js';
import { countText, Matrix } from './matrix.js';
import { drawSide } from './side.js';
import { dataInFile, follow } from './source.js';
import { isTrouble } from './states.js';
import { drawSummary, goTo } from './summary.js';
import { drawLists } from './tables.js';
import { age, moment, secondsOf, stopClock } from './time.js';

/** @typedef {import('../model.ts').Dashboard} Dashboard */
/** @typedef {import('./data.js').NodeView} NodeView */

/** @type {Dashboard | undefined} */
let dashboard;
/** @type {NodeView[]} */
let nodes = [];
/** @type {import('./data.js').Filter} */
const filter = { search: '', states: new Set(), network: -1, order: 'state' };
const matrix = new Matrix(byId('matrix'), (node) => dashboard && openDetails(node, dashboard));

/** @param {Dashboard} next */
function show(next) {
  const began = performance.now();
  dashboard = next;
  nodes = viewNodes(next);
  const { context, server, clientVersion, serverVersion } = next.cluster;
  document.title = `${next.verdict === 'well' ? '' : '● '}cni-gate: ${context ?? server}`;
  const parts = [
    context === null ? server : `${context} (${server})`,
    `client ${clientVersion}, server ${serverVersion ?? 'not known'}`,
    ...(next.namespace === null ? [] : [`namespace ${next.namespace}`]),
  ];
  const shown = byId('cluster');
  shown.textContent = parts.join(' · ');
  shown.title = shown.textContent;
  drawNetworks(next);
  draw();
  // forces the layout, so that the measure has all but the painting
  document.body.getBoundingClientRect();
  performance.measure('show', { start: began, end: performance.now() });
}

function draw() {
  if (dashboard === undefined) return;
  const now = secondsOf(dashboard.time) ?? 0;
  drawSummary(dashboard, nodes.filter((node) => isTrouble(worst(node, -1))).length);
  drawNodes();
  drawLists(dashboard, filter.search);
  drawChart(dashboard.proofs, now);
  drawSide(dashboard);
}

function drawNodes() {
  if (dashboard === undefined) return;
  const { networks } = dashboard;
  drawChips(nodes, filter, (state) => {
    if (!filter.states.delete(state)) filter.states.add(state);
    drawNodes();
  });
  drawGroups(nodes, networks, value('grouping'), filter, (group) => {
    filter.zone = group?.zone;
    filter.group = group?.group;
    drawNodes();
  });
  drawFound();
}

/** Draws the nodes that the filter leaves. Chips and groups show all nodes, whatever the search. */
function drawFound() {
  if (dashboard === undefined) return;
  const left = filtered(nodes, filter);
  byId('nodes-count').textContent = countText(left.length, nodes.length);
  matrix.show(left, dashboard.networks);
}

/** @param {Dashboard} next */
function drawNetworks({ networks }) {
  const select = /** @type {HTMLSelectElement} */ (byId('network'));
  const wanted = ['all', ...networks.map(({ name }) => name)];
  if (Array.from(select.options, ({ text }) => text).join('\n') === wanted.join('\n')) return;
  const name = select.selectedOptions[0]?.text;
  select.replaceChildren(...wanted.map((text, index) => h('option', { value: index - 1 }, text)));
  select.selectedIndex = Math.max(0, wanted.indexOf(name ?? 'all'));
  filter.network = select.selectedIndex - 1;
}

/** @param {string} id */
const value = (id) => /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(id)).value;

byId('search').addEventListener('input', () => {
  filter.search = value('search');
  drawFound();
  if (dashboard !== undefined) drawLists(dashboard, filter.search);
});
byId('network').addEventListener('change', () => {
  filter.network = Number(value('network'));
  drawNodes();
});
byId('order').addEventListener('change', () => {
  filter.order = value('order');
  drawNodes();
});
byId('grouping').addEventListener('change', () => {
  filter.zone = undefined;
  filter.group = undefined;
  drawNodes();
});
// the fragment of the address has the token, which a link to a section would replace
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  goTo('nodes');
});
byId('details').addEventListener('click', (event) => {
  // a click beside the dialog is one on its backdrop
  if (event.target === event.currentTarget) /** @type {HTMLDialogElement} */ (byId('details')).close();
});

const themes = ['system', 'light', 'dark'];
let theme = 'system';
try {
  theme = localStorage.getItem('cni-gate-theme') ?? theme;
} catch {
  // a file may have no storage
}

function drawTheme() {
  if (!themes.includes(theme)) theme = 'system';
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = `Theme: ${theme}`;
}

byId('theme').addEventListener('click', () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  drawTheme();
  try {
    localStorage.setItem('cni-gate-theme', theme);
  } catch {
    // then it is for this visit
  }
});
drawTheme();

/** @param {string | null} text */
function tell(text) {
  const trouble = byId('trouble');
  if (trouble.textContent !== (text ?? '')) trouble.textContent = text ?? '';
  trouble.hidden = text === null;
}

const file = dataInFile();
if (file !== undefined) {
  stopClock(secondsOf(file.time) ?? 0);
  show(file);
  byId('freshness').textContent = `as of ${moment(secondsOf(file.time))}`;
} else {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1] ?? '';
  let at = 0;
  const fresh = () => {
    at = performance.now();
    byId('freshness').textContent = 'live';
    byId('freshness').classList.add('live');
  };
  follow(token, {
    onData: (next) => {
      show(next);
      tell(next.stale === null ? null : `The data may be old: ${next.stale}`);
      fresh();
    },
    onSame: () => {
      if (dashboard) tell(dashboard.stale === null ? null : `The data may be old: ${dashboard.stale}`);
      fresh();
    },
    onTrouble: (text) => {
      byId('freshness').classList.remove('live');
      const seconds = Math.round((performance.now() - at) / 1000);
      byId('freshness').textContent = at === 0 ? 'no data' : `${age(0, seconds)} old`;
      tell(text);
    },
  });
  // ages go on
  setInterval(draw, 30_000);
}
