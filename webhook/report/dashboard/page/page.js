/** @typedef {import('../data.ts').Dashboard} Dashboard */
/** @typedef {import('../data.ts').Band} Band */
/** @typedef {import('../data.ts').GridCell} GridCell */
/** @typedef {Dashboard['tables'][number]} Table */

/** Rows of a table that are drawn: a browser is slow with many thousands. The filter looks at all of them. */
const mostRows = 200;

/** Milliseconds between two requests to the server. */
const interval = 1500;

/** How states and results are coloured. */
const tones = Object.entries({
  good: ['ready', 'passed', 'yes'],
  pending: ['starting', 'rebooted', 'unproved', 'warning', 'not known', 'not-known'],
  bad: ['broken', 'absent', 'failing', 'failed', 'no'],
});

/** What a small cell shows beside its colour. @type {Record<string, string>} */
const marks = { broken: '×', failing: '!', absent: '–', rebooted: '↻', starting: '…', unproved: '?' };

/** Up to this number of nodes, cells are wide enough for their names. */
const mostNamed = 24;

/** @type {Dashboard | undefined} */
let shown;
const filter = /** @type {HTMLInputElement} */ (byId('filter'));

/** @param {string} id */
function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * Makes an element without markup: every text of the cluster becomes a text node.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @param {string | null} text */
const toneOf = (text) => tones.find(([, texts]) => texts.includes(text ?? ''))?.[0];

/** @param {string} text @param {string[]} words */
const hasWords = (text, words) => words.every((word) => text.toLowerCase().includes(word));

/** Draws all that has rows; cells that lack a word of the filter are faint, and such rows are left out. */
function draw() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  drawGrid(words);
  const filled = (shown?.tables ?? []).filter(({ rows }) => rows.length > 0);
  byId('tables').replaceChildren(...filled.map((table) => sectionOf(table, words)));
}

/** @param {Table} table @param {string[]} words */
function sectionOf({ id, title, head, rows, sentences }, words) {
  const found = rows.filter((row) => hasWords(row.join('\n'), words));
  const count = words.length === 0 ? String(rows.length) : `${found.length} of ${rows.length}`;
  const more = found.length - mostRows;
  const names = head.map((name) => name.toLowerCase());
  /** @param {string | null} text @param {number} at */
  const cell = (text, at) => {
    const isText = at >= head.length - sentences;
    const tone = toneOf(text);
    const label = `${names[at]}: `;
    const attributes = {
      'data-label': label,
      ...(tone && { 'data-tone': tone }),
      ...(isText && { class: 'text' }),
    };
    return h('td', attributes, text ?? '');
  };
  const table = h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ...names.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, ...found.slice(0, mostRows).map((row) => h('tr', {}, ...row.map(cell)))),
  );
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, `${title ?? names[0]} `, h('span', { class: 'muted count' }, count)),
    h('div', { class: 'scroll' }, table),
    more > 0 ? h('p', { class: 'muted' }, `and ${more} more: filter to see them`) : '',
  );
}

const bands = byId('bands');
bands.setAttribute('role', 'grid');
bands.setAttribute('aria-labelledby', 'grid-title');
/** What the detail is about: the cell that was last focused or pointed at, as network and name. */
let current = '';

/** @param {string[]} words */
function drawGrid(words) {
  const grid = shown?.grid;
  byId('grid').hidden = !grid?.bands.length;
  if (!grid?.bands.length) return;
  const hadFocus = bands.contains(document.activeElement);
  const size = grid.grouped ? 'group' : grid.nodes > mostNamed ? 'small' : 'named';
  byId('grid-count').textContent = `${grid.nodes}${grid.grouped ? ', by state and pool' : ''}`;
  byId('legend').replaceChildren(...legendOf(grid.bands));
  bands.dataset.size = size;
  bands.replaceChildren(...grid.bands.map((band) => bandOf(band, size, words)));
  const cells = cellsIn(bands);
  const selected = cells.find(({ dataset }) => dataset.key === current) ?? cells[0];
  if (selected) select(selected);
  if (hadFocus) selected?.focus();
}

/** The states that are there, with their colours and numbers of nodes. @param {Band[]} all */
function legendOf(all) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { cells } of all)
    for (const { state, count } of cells) if (state) counts.set(state, (counts.get(state) ?? 0) + count);
  const order = [...Object.keys(marks), 'ready', 'exempt'];
  const sorted = [...counts].sort(([left], [right]) => order.indexOf(left) - order.indexOf(right));
  return sorted.map(([state, count]) =>
    h(
      'span',
      {},
      h(
        'span',
        { class: 'cell', 'data-tone': toneOf(state) ?? 'none', 'aria-hidden': 'true' },
        marks[state] ?? '',
      ),
      `${state}`,
      h('span', { class: 'muted' }, String(count)),
    ),
  );
}

/** @param {Band} band @param {string} size @param {string[]} words */
function bandOf({ network, inUse, cells }, size, words) {
  const made = cells.map((cell) => cellOf(cell, network, size, words));
  const unused = inUse ? '' : h('span', { class: 'muted' }, ' not in use');
  return h(
    'div',
    { role: 'row', class: inUse ? 'band' : 'band unused' },
    h('div', { role: 'rowheader', class: 'network' }, network, unused),
    h('div', { role: 'presentation', class: 'cells' }, ...made),
  );
}

/** @param {GridCell} cell @param {string} network @param {string} size @param {string[]} words */
function cellOf({ name, count, state, why }, network, size, words) {
  const counted = count > 1 ? `${count} nodes` : '';
  const told = [[name, counted].filter(Boolean).join(': '), network, state ?? 'nothing to be said'].join(
    ' · ',
  );
  const text = why === '' ? told : `${told}: ${why}`;
  // open, and nothing shows that it works: not as green as the others
  const isUnsure = state === 'ready' && size !== 'group' && why !== '';
  const attributes = {
    class: hasWords(text, words) ? 'cell' : 'cell faint',
    role: 'gridcell',
    tabindex: '-1',
    'aria-label': text,
    'data-key': `${network} ${name} ${size === 'group' ? state : ''}`,
    'data-tone': isUnsure ? 'unsure' : (toneOf(state) ?? 'none'),
  };
  const mark = marks[state ?? ''] ?? '';
  const label = size === 'small' ? mark : size === 'group' ? `${count} ${name}` : name;
  return h('div', attributes, h('span', { 'aria-hidden': 'true' }, label));
}

/** @param {Element} element */
const cellsIn = (element) =>
  /** @type {HTMLElement[]} */ ([...element.querySelectorAll('[role="gridcell"]')]);

/** Tells about a cell, and makes it the one that Tab comes to. @param {HTMLElement} cell */
function select(cell) {
  for (const before of bands.querySelectorAll('[tabindex="0"], .current')) {
    before.setAttribute('tabindex', '-1');
    before.classList.remove('current');
  }
  cell.setAttribute('tabindex', '0');
  cell.classList.add('current');
  current = cell.dataset.key ?? '';
  byId('detail').textContent = cell.getAttribute('aria-label');
}

/** @param {Event} event */
function point({ target }) {
  const cell = target instanceof Element ? target.closest('[role="gridcell"]') : null;
  if (cell instanceof HTMLElement) select(cell);
}

/** Arrow keys go from cell to cell, and Home and End within a network. @param {KeyboardEvent} event */
function move(event) {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement)) return;
  const rows = [...bands.children].map(cellsIn);
  const at = rows.findIndex((row) => row.includes(activeElement));
  const row = rows[at];
  if (row === undefined) return;
  const column = row.indexOf(activeElement);
  /** @type {Record<string, HTMLElement | undefined>} */
  const targets = {
    ArrowRight: row[column + 1],
    ArrowLeft: row[column - 1],
    ArrowDown: rows[at + 1]?.[column] ?? rows[at + 1]?.at(-1),
    ArrowUp: rows[at - 1]?.[column] ?? rows[at - 1]?.at(-1),
    Home: row[0],
    End: row.at(-1),
  };
  if (!(event.key in targets)) return;
  event.preventDefault();
  targets[event.key]?.focus();
}

/** @param {Dashboard} next */
function show(next) {
  shown = next;
  document.title = `${next.result === 'well' ? '' : '● '}cni-gate: ${next.name}`;
  byId('cluster').textContent = next.about;
  byId('result').textContent = next.headline;
  byId('result').dataset.result = next.result;
  draw();
}

/** Shows whether the page follows the cluster. @param {string | null} trouble why it does not; null while it does */
function tell(trouble, isLive = false) {
  byId('freshness').textContent = isLive ? 'live' : shown ? `as of ${shown.time}` : 'no data';
  const element = byId('trouble');
  // an unchanged text is not read out again
  if (element.textContent !== (trouble ?? '')) element.textContent = trouble ?? '';
  element.hidden = trouble === null;
}

/** Requests the data from the server again and again. @param {string} token */
async function follow(token) {
  let before = '';
  for (;;) {
    try {
      const response = await fetch('data', {
        cache: 'no-store',
        headers: { authorization: `Bearer ${token}` },
      });
      if (response.status === 401) {
        tell('The token of this page is missing or old: open the address that cni-gate dashboard printed.');
        return;
      }
      if (response.ok) {
        const next = await response.json();
        // another time alone is no change
        const content = JSON.stringify({ ...next, time: '' });
        if (content !== before) show(next);
        before = content;
      }
      const stale = shown?.stale ? `The data may be old: ${shown.stale}` : null;
      if (response.ok) tell(stale, true);
      else tell(`cni-gate dashboard answered with ${response.status}.`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      tell('cni-gate dashboard does not answer. Is it still running? This page shows what it knew last.');
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

filter.addEventListener('input', draw);
bands.addEventListener('mouseover', point);
bands.addEventListener('focusin', point);
bands.addEventListener('keydown', move);
follow(/^#token=([\w-]+)$/.exec(location.hash)?.[1] ?? '');
