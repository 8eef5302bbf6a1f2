import { button, byId, h, redraw, svg } from './dom.js';
import { number } from './states.js';
import { numberCell, rowOf, sectionHead, tableOf } from './table.js';
import { clock } from './time.js';

/** @typedef {import('../model.ts').ProofMinute} ProofMinute */

/** What the chart covers, in minutes, and the minutes of one bar. */
const ranges = /** @type {const} */ ([
  ['1 h', 60, 2],
  ['6 h', 360, 10],
  ['24 h', 1440, 30],
]);

let range = 1;

/** @typedef {{ at: number, passed: number, failed: number }} Bar */

/**
 * Proofs that passed and failed over time: up and down from one line, so that colour is not all that tells them apart.
 *
 * @param {ProofMinute[]} proofs
 * @param {number} now seconds since the epoch
 */
export function drawChart(proofs, now) {
  const [, minutes, size] = ranges[range] ?? ranges[1];
  const bars = barsOf(proofs, Math.floor(now / 60), minutes, size);
  redraw(byId('proofs'), [bars, range], () => {
    const passed = bars.reduce((sum, bar) => sum + bar.passed, 0);
    const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
    const choices = ranges.map(([name], index) =>
      button(
        { class: 'choice', 'aria-pressed': String(index === range), 'data-key': name },
        () => {
          range = index;
          drawChart(proofs, now);
        },
        name,
      ),
    );
    return [
      sectionHead(
        'proofs',
        'Proofs',
        h('div', { class: 'choices', role: 'group', 'aria-label': 'Time' }, choices),
      ),
      h(
        'p',
        { class: 'legend' },
        h('span', { class: 'key', 'data-state': 'ready' }),
        `${number(passed)} passed`,
        h('span', { class: 'key', 'data-state': 'broken' }),
        `${number(failed)} failed`,
      ),
      passed + failed === 0 ? h('p', { class: 'muted' }, 'No proof ended in this time.') : drawBars(bars),
      passed + failed === 0 ? null : chartTable(bars, size),
      h(
        'p',
        { class: 'muted small' },
        `At most ${number(Math.max(...bars.map((bar) => bar.passed + bar.failed)))} in ${size} min. Of the pods that exist, and of those seen since this page was started.`,
      ),
    ];
  });
}

/**
 * @param {ProofMinute[]} proofs
 * @param {number} now minutes since the epoch
 * @param {number} minutes
 * @param {number} size
 * @returns {Bar[]} the oldest first
 */
function barsOf(proofs, now, minutes, size) {
  // bars stand at round times, so that they do not move with each minute
  const last = Math.floor(now / size);
  const count = minutes / size;
  const bars = Array.from({ length: count }, (_, index) => ({
    at: (last - count + 1 + index) * size,
    passed: 0,
    failed: 0,
  }));
  for (const [at, passed, failed] of proofs) {
    const bar = bars[Math.floor(at / size) - (last - count + 1)];
    if (bar === undefined) continue;
    bar.passed += passed;
    bar.failed += failed;
  }
  return bars;
}

/** @param {Bar[]} bars */
function drawBars(bars) {
  const [width, height, bottom] = [320, 110, 16];
  const most = [Math.max(...bars.map(({ passed }) => passed)), Math.max(...bars.map(({ failed }) => failed))];
  const scale = (height - 4) / Math.max(1, (most[0] ?? 0) + (most[1] ?? 0));
  const zero = Math.round((most[0] ?? 0) * scale) + 2;
  const step = width / bars.length;
  /** @param {number} count */
  const length = (count) => (count === 0 ? 0 : Math.max(2, count * scale));
  const marks = bars.flatMap(({ passed, failed }, index) => {
    const x = index * step + step * 0.12;
    const common = { x, width: step * 0.76, rx: 1 };
    return [
      svg('rect', { ...common, class: 'passed', y: zero - length(passed), height: length(passed) }),
      svg('rect', { ...common, class: 'failed', y: zero + 1, height: length(failed) }),
    ];
  });
  const labels = [0, Math.floor(bars.length / 2), bars.length - 1].map((index, at) =>
    svg(
      'text',
      {
        x: [0, width / 2, width][at] ?? 0,
        y: height + bottom - 2,
        class: 'axis',
        'text-anchor': ['start', 'middle', 'end'][at] ?? 'start',
      },
      at === 2 ? 'now' : clock((bars[index]?.at ?? 0) * 60),
    ),
  );
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height + bottom}`, class: 'chart', 'aria-hidden': 'true' },
    ...marks,
    svg('path', { d: `M0 ${zero + 0.5}H${width}`, class: 'line' }),
    ...labels,
  );
}

/**
 * @param {Bar[]} bars
 * @param {number} size
 */
function chartTable(bars, size) {
  const rows = bars
    .filter(({ passed, failed }) => passed + failed > 0)
    .map(({ at, passed, failed }) =>
      rowOf(clock(at * 60), numberCell(number(passed)), numberCell(number(failed))),
    );
  return h(
    'details',
    {},
    h('summary', { class: 'muted small' }, 'As a table'),
    tableOf(['from', 'passed', 'failed'], rows, { caption: `Proofs in ${size} minutes`, numbers: [1, 2] }),
  );
}
