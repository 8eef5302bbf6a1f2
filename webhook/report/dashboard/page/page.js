/** @typedef {import('../server.ts').Dashboard} Dashboard */
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

/** Draws the tables that have rows; rows that lack a word of the filter are left out. */
function drawTables() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const filled = (shown?.tables ?? []).filter(({ rows }) => rows.length > 0);
  byId('tables').replaceChildren(...filled.map((table) => sectionOf(table, words)));
}

/** @param {Table} table @param {string[]} words */
function sectionOf({ id, head, rows, sentences }, words) {
  const found = rows.filter((row) => {
    const text = row.join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const count = words.length === 0 ? String(rows.length) : `${found.length} of ${rows.length}`;
  const more = found.length - mostRows;
  const names = head.map((name) => name.toLowerCase());
  /** @param {string | null} text @param {number} at */
  const cell = (text, at) => {
    const isText = at >= head.length - sentences;
    const [tone] = tones.find(([, texts]) => texts.includes(text ?? '')) ?? [];
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
    h('h2', { id: `${id}-title` }, `${names[0]} `, h('span', { class: 'muted count' }, count)),
    h('div', { class: 'scroll' }, table),
    more > 0 ? h('p', { class: 'muted' }, `and ${more} more: filter to see them`) : '',
  );
}

/** @param {Dashboard} next */
function show(next) {
  shown = next;
  document.title = `${next.result === 'well' ? '' : '● '}cni-gate: ${next.name}`;
  byId('cluster').textContent = next.about;
  byId('result').textContent = next.headline;
  byId('result').dataset.result = next.result;
  drawTables();
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

filter.addEventListener('input', drawTables);
follow(/^#token=([\w-]+)$/.exec(location.hash)?.[1] ?? '');
