/** @typedef {import('../data.ts').Dashboard} Dashboard */
/** @typedef {Dashboard['grid']['bands'][number]} Band */
/** @typedef {import('../data.ts').GridCell} GridCell */

/** Milliseconds between two requests to the server. */
const interval = 1500;

/** The colour of each state, and the mark in a small cell. @type {Record<string, [tone: string, mark: string]>} */
const looks = {
  broken: ['bad', '×'],
  failing: ['bad', '!'],
  absent: ['bad', '–'],
  rebooted: ['pending', '↻'],
  starting: ['pending', '…'],
  unproved: ['pending', '?'],
  ready: ['good', ''],
  exempt: ['none', ''],
};

/** Up to this many nodes, cells are wide enough for the nodes' names. */
const mostNamed = 24;

/** @type {Dashboard | undefined} */
let shown;
const bands = byId('bands');
/** The key of the cell that was last focused or pointed at. */
let current = '';

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Makes an element without parsing markup, so that every text from the cluster becomes a text node.
 *
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Draws the grid. */
function drawGrid() {
  const grid = shown?.grid;
  byId('grid').hidden = !grid?.bands.length;
  if (!grid?.bands.length) return;
  const hadFocus = bands.contains(document.activeElement);
  const size = grid.grouped ? 'group' : grid.nodes > mostNamed ? 'small' : 'named';
  byId('grid-count').textContent = `${grid.nodes}${grid.grouped ? ', by state and pool' : ''}`;
  byId('legend').replaceChildren(...legendOf(grid.bands));
  bands.dataset.size = size;
  bands.replaceChildren(...grid.bands.map((band) => bandOf(band, size)));
  const cells = [...bands.querySelectorAll('label')];
  const selected = cells.find(({ dataset }) => dataset.key === current) ?? cells[0];
  if (selected) select(selected);
  if (hadFocus) selected?.control?.focus();
}

/** The legend: each state that occurs, with its colour and number of nodes. @param {Band[]} all */
function legendOf(all) {
  const cells = all.flatMap((band) => band.cells);
  return Object.entries(looks).flatMap(([name, [tone, mark]]) => {
    const count = cells.reduce((sum, cell) => sum + (cell.state === name ? cell.count : 0), 0);
    const sample = h('span', { class: 'cell', 'data-tone': tone, 'aria-hidden': 'true' }, mark);
    return count === 0 ? [] : h('span', {}, sample, ` ${name} ${count}`);
  });
}

/** @param {Band} band @param {string} size */
function bandOf({ network, cells }, size) {
  return h(
    'fieldset',
    { class: 'band' },
    h('legend', {}, network),
    h('div', { class: 'cells' }, ...cells.map((cell) => cellOf(cell, network, size))),
  );
}

/**
 * A cell is a radio button, one group for each network: Tab stops once in a network, and arrow keys move within it.
 *
 * @param {GridCell} cell @param {string} network @param {string} size
 */
function cellOf({ name, count, state, isUnsure, why }, network, size) {
  const named = count > 1 ? `${name}: ${count} nodes` : name;
  const told = `${named} · ${network} · ${state}`;
  const text = why === '' ? told : `${told}: ${why}`;
  const [tone, mark] = looks[state] ?? ['none', ''];
  const attributes = {
    class: 'cell',
    'data-key': `${network} ${name} ${size === 'group' ? state + isUnsure : ''}`,
    // not green without a proof
    'data-tone': isUnsure ? 'none' : tone,
  };
  const label = size === 'small' ? mark : size === 'group' ? `${count} ${name}` : name;
  const radio = h('input', { type: 'radio', name: network, 'aria-label': text });
  return h('label', attributes, radio, h('span', { 'aria-hidden': 'true' }, label));
}

/** Shows the details of a cell. @param {HTMLLabelElement} cell */
function select(cell) {
  bands.querySelector('.current')?.classList.remove('current');
  cell.classList.add('current');
  current = cell.dataset.key ?? '';
  byId('detail').textContent = cell.control?.ariaLabel ?? '';
}

/** @param {Event} event */
function point({ target }) {
  const cell = target instanceof Element ? target.closest('label') : null;
  if (cell) select(cell);
}

/** @param {Dashboard} next */
function show(next) {
  shown = next;
  document.title = `${next.result === 'passed' ? '' : '● '}cni-gate: ${next.name}`;
  write('result', next.headline);
  byId('result').dataset.result = next.result;
  byId('text').textContent = next.text;
  drawGrid();
}

/** Shows whether the page is up to date. @param {string | null} trouble why it is outdated; null if it is not */
function tell(trouble, isLive = false) {
  write('freshness', isLive ? 'live' : shown ? `as of ${shown.time}` : 'no data');
  write('trouble', trouble ?? '');
  byId('trouble').hidden = trouble === null;
}

/** Writes a text if it has changed, so that screen readers do not repeat it. @param {string} id @param {string} text */
function write(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

/** Requests the data from the server repeatedly. @param {string} token */
async function follow(token) {
  const headers = { authorization: `Bearer ${token}` };
  let before = '';
  for (;;) {
    try {
      const response = await fetch('data', { cache: 'no-store', headers });
      if (response.status === 401) {
        tell('The token of this page is missing or old: open the address that cni-gate dashboard printed.');
        return;
      }
      if (response.ok) {
        const content = await response.text();
        if (content !== before) show(JSON.parse(content));
        before = content;
      }
      const stale = shown?.stale ? `The data may be old: ${shown.stale}` : null;
      if (response.ok) tell(stale, true);
      else tell(`cni-gate dashboard answered with ${response.status}.`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      tell(
        'cni-gate dashboard does not answer. Is it still running? This page shows the last status that it received.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

bands.addEventListener('mouseover', point);
bands.addEventListener('focusin', point);
follow(/^#token=([\w-]+)$/.exec(location.hash)?.[1] ?? '');
