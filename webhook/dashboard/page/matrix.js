import { troubleOf } from './data.js';
import { h } from './dom.js';
import { isTrouble, number, sign } from './states.js';
import { age, moment } from './time.js';

/** @typedef {import('./data.js').NodeView} NodeView */
/** @typedef {import('../model.ts').Network} Network */

/** Pixels of a row; `style.css` has the same. */
const rowHeight = 30;

/** The least width of a column in pixels, and its share of what is left. */
const columnWidths = new Map([
  ['node', { least: 190, share: 1.6 }],
  ['zone', { least: 110, share: 0.6 }],
  ['group', { least: 110, share: 0.6 }],
  ['trouble', { least: 340, share: 2.4 }],
]);
const networkWidth = { least: 150, share: 1 };

/** Rows that are drawn above and below those in view. */
const margin = 6;

/** The grid of nodes and networks. Only the rows in view exist as elements, so 5,000 nodes cost as much as 50. */
export class Matrix {
  #head = h('div', { role: 'row', class: 'matrix-row matrix-head', 'aria-rowindex': 1 });
  #body = h('div', { role: 'rowgroup', class: 'matrix-body' });
  #grid = h('div', {
    role: 'grid',
    class: 'matrix',
    tabindex: 0,
    'aria-label': 'States of networks on nodes. Arrow keys move, Enter shows a node.',
  });
  /** @type {NodeView[]} */
  #nodes = [];
  /** @type {string[]} */
  #columns = [];
  #row = 0;
  #column = 0;
  /**
   * The rows that are drawn, by index.
   *
   * @type {Map<number, HTMLElement>}
   */
  #rows = new Map();
  /** @type {Element | undefined} */
  #active;
  #waiting = false;
  /** @type {(node: NodeView) => void} */
  #open;

  /**
   * @param {HTMLElement} parent
   * @param {(node: NodeView) => void} open
   */
  constructor(parent, open) {
    this.#open = open;
    this.#grid.append(h('div', { role: 'rowgroup', class: 'matrix-top' }, this.#head), this.#body);
    parent.append(this.#grid);
    this.#grid.addEventListener('scroll', () => this.#drawSoon(), { passive: true });
    this.#grid.addEventListener('keydown', (event) => this.#press(event));
    this.#body.addEventListener('click', (event) => this.#click(event));
    new ResizeObserver(() => this.#drawSoon()).observe(this.#grid);
  }

  /**
   * @param {NodeView[]} nodes in the order of display
   * @param {Network[]} networks
   */
  show(nodes, networks) {
    const active = this.#nodes[this.#row]?.name;
    this.#nodes = nodes;
    const found = nodes.findIndex(({ name }) => name === active);
    this.#row = found < 0 ? Math.min(this.#row, Math.max(0, nodes.length - 1)) : found;
    const hasZone = nodes.some(({ zone }) => zone !== '');
    const hasGroup = nodes.some(({ group }) => group !== '');
    this.#columns = [
      'node',
      // beside the name, so that a narrow window shows it too
      ...(nodes.some(troubleOf) ? ['trouble'] : []),
      ...networks.map((_, index) => `${index}`),
      ...(hasZone ? ['zone'] : []),
      ...(hasGroup ? ['group'] : []),
    ];
    this.#column = Math.min(this.#column, this.#columns.length - 1);
    const widths = this.#columns.map((column) => columnWidths.get(column) ?? networkWidth);
    const tracks = widths.map(({ least, share }) => `minmax(${least}px, ${share}fr)`);
    this.#grid.style.setProperty('--columns', tracks.join(' '));
    this.#grid.style.setProperty('--least', `${widths.reduce((sum, { least }) => sum + least, 0)}px`);
    this.#grid.setAttribute('aria-rowcount', String(nodes.length + 1));
    this.#grid.setAttribute('aria-colcount', String(this.#columns.length));
    this.#head.replaceChildren(
      ...this.#columns.map((column, index) => {
        const network = networks[Number(column)];
        const note =
          network === undefined ? '' : !network.exists ? 'does not exist' : network.inUse ? '' : 'not in use';
        return h(
          'div',
          { role: 'columnheader', 'aria-colindex': index + 1, title: network?.name },
          network?.name ?? column,
          note ? h('span', { class: 'muted' }, ` ${note}`) : null,
        );
      }),
    );
    this.#rows.clear();
    this.#body.style.height = `${Math.max(nodes.length, 1) * rowHeight}px`;
    this.#draw();
  }

  #drawSoon() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#draw();
    });
  }

  #draw() {
    const { scrollTop, clientHeight } = this.#grid;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - margin);
    const last = Math.min(this.#nodes.length, Math.ceil((scrollTop + clientHeight) / rowHeight) + margin);
    /** @type {Map<number, HTMLElement>} */
    const rows = new Map();
    for (let index = first; index < last; index += 1) {
      const node = this.#nodes[index];
      if (node !== undefined) rows.set(index, this.#rows.get(index) ?? this.#drawRow(node, index));
    }
    if (this.#nodes.length === 0)
      rows.set(
        -1,
        h('div', { role: 'row', class: 'matrix-none' }, h('div', { role: 'gridcell' }, 'No node matches.')),
      );
    this.#rows = rows;
    keepOnly(this.#body, [...rows.values()]);
    this.#drawActive();
  }

  /** Marks the cell that the keyboard is on. */
  #drawActive() {
    this.#active?.classList.remove('active');
    const active = this.#rows.get(this.#row)?.children[this.#column];
    active?.classList.add('active');
    this.#active = active;
    if (this.#nodes.length > 0)
      this.#grid.setAttribute('aria-activedescendant', cellId(this.#row, this.#column));
    else this.#grid.removeAttribute('aria-activedescendant');
  }

  /**
   * @param {NodeView} node
   * @param {number} index
   */
  #drawRow(node, index) {
    const row = h('div', { role: 'row', class: 'matrix-row', 'aria-rowindex': index + 2, 'data-row': index });
    row.style.transform = `translateY(${index * rowHeight}px)`;
    for (const [at, column] of this.#columns.entries()) {
      const cell = h('div', {
        role: at === 0 ? 'rowheader' : 'gridcell',
        id: cellId(index, at),
        'aria-colindex': at + 1,
        'data-column': at,
      });
      fill(cell, node, column);
      row.append(cell);
    }
    return row;
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const page = Math.max(1, Math.floor(this.#grid.clientHeight / rowHeight) - 2);
    const last = this.#nodes.length - 1;
    const end = this.#columns.length - 1;
    const all = event.ctrlKey || event.metaKey;
    /** @type {Record<string, () => void>} */
    const moves = {
      ArrowDown: () => this.#moveTo(this.#row + 1, this.#column),
      ArrowUp: () => this.#moveTo(this.#row - 1, this.#column),
      ArrowRight: () => this.#moveTo(this.#row, this.#column + 1),
      ArrowLeft: () => this.#moveTo(this.#row, this.#column - 1),
      PageDown: () => this.#moveTo(this.#row + page, this.#column),
      PageUp: () => this.#moveTo(this.#row - page, this.#column),
      Home: () => this.#moveTo(all ? 0 : this.#row, 0),
      End: () => this.#moveTo(all ? last : this.#row, end),
      Enter: () => this.#openActive(),
      ' ': () => this.#openActive(),
    };
    const move = moves[event.key];
    if (move === undefined || event.altKey) return;
    event.preventDefault();
    move();
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  #moveTo(row, column) {
    this.#row = Math.max(0, Math.min(this.#nodes.length - 1, row));
    this.#column = Math.max(0, Math.min(this.#columns.length - 1, column));
    const top = this.#row * rowHeight;
    const { scrollTop, clientHeight } = this.#grid;
    // the head stays above the rows
    const room = clientHeight - this.#head.offsetHeight;
    if (top < scrollTop) this.#grid.scrollTop = top;
    else if (top + rowHeight > scrollTop + room) this.#grid.scrollTop = top + rowHeight - room;
    this.#draw();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const cell = event.target instanceof Element ? event.target.closest('[data-column]') : null;
    const row = cell?.closest('[data-row]');
    if (!(cell instanceof HTMLElement) || !(row instanceof HTMLElement)) return;
    this.#row = Number(row.dataset.row);
    this.#column = Number(cell.dataset.column);
    this.#draw();
    this.#openActive();
  }

  #openActive() {
    const node = this.#nodes[this.#row];
    if (node !== undefined) this.#open(node);
  }
}

/**
 * @param {number} row
 * @param {number} column
 */
const cellId = (row, column) => `cell-${row}-${column}`;

/**
 * Makes these the children of an element. Those that are there already stay as they are.
 *
 * @param {Element} parent
 * @param {HTMLElement[]} wanted in their order
 */
function keepOnly(parent, wanted) {
  const kept = new Set(wanted);
  for (const child of [...parent.children])
    if (!(child instanceof HTMLElement && kept.has(child))) child.remove();
  let next = parent.firstElementChild;
  for (const one of wanted) {
    if (one === next) next = next.nextElementSibling;
    else parent.insertBefore(one, next);
  }
}

/**
 * @param {HTMLElement} element
 * @param {NodeView} node
 * @param {string} column
 */
function fill(element, node, column) {
  if (column === 'node' || column === 'zone' || column === 'group') {
    const text = { node: node.name, zone: node.zone, group: node.group }[column];
    element.title = text;
    element.classList.add(column === 'node' ? 'node-name' : 'place');
    element.append(text);
    return;
  }
  if (column === 'trouble') {
    const found = troubleOf(node);
    if (found === undefined) return;
    const { state, since, why } = found;
    const text = [`${state} ${age(since)}`.trim(), why].filter(Boolean).join(': ');
    element.title = text;
    element.classList.add('reason-cell');
    element.append(sign(state), ` ${text}`);
    return;
  }
  const cell = node.cells[Number(column)];
  if (!cell) return;
  const { state, since, why } = cell;
  element.title = [`${state}${since === null ? '' : ` since ${moment(since)}`}`, why]
    .filter(Boolean)
    .join('\n');
  element.append(
    h(
      'span',
      { class: isTrouble(state) ? 'state trouble-state' : 'state', 'data-state': state },
      sign(state),
      state,
    ),
    h('span', { class: 'since' }, age(since)),
  );
}

/**
 * How many nodes are shown, for people.
 *
 * @param {number} shown
 * @param {number} all
 */
export const countText = (shown, all) => (shown === all ? number(all) : `${number(shown)} of ${number(all)}`);
