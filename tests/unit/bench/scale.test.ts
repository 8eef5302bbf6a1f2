import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Figures, rowsOf } from '../../bench/scale/rows.ts';

const vitals = (memory: number): Figures['synced'] => ({ memory, peak: memory + 1, seconds: 1 });
const took = { decision: { p50: 10, p99: 20 }, call: { p50: 30, p99: 40 } };
const of = (nodes: number, sets: number): Figures => ({
  nodes,
  sets,
  ready: 2,
  start: vitals(50),
  synced: vitals(100),
  took,
  perSecond: 5000,
  pods: nodes * 110,
  full: vitals(200),
});

test('rows of the scale bench: sizes with the most DaemonSets, and those with an aim', () => {
  const rows = rowsOf([of(5, 1), of(100, 1), of(5000, 1), of(5000, 3), of(15_000, 3)]);
  const memory = rows.filter(({ figure }) => figure === 'resident memory');
  assert.deepEqual(
    memory.map(({ conditions, aim }) => [conditions, aim]),
    [
      ['5 nodes × 1 DaemonSet', { atMost: 90 }],
      ['5,000 nodes × 1 DaemonSet', { atMost: 140 }],
      ['5,000 nodes × 3 DaemonSets', undefined],
      ['15,000 nodes × 3 DaemonSets', { atMost: 300 }],
    ],
  );
  assert.deepEqual(
    rows.filter(({ unit }) => unit === 'µs' || unit === '/s').map(({ measured }) => measured),
    [10, 10, 20, 20, 5000, 5000],
  );
  assert.deepEqual(
    rows.filter(({ figure, aim }) => figure === 'start to ready' && aim).map(({ aim }) => aim),
    [{ atMost: 10 }],
  );
});

test('rows of the scale bench without calls: memory and start only', () => {
  const rows = rowsOf([{ ...of(5, 1), took: undefined, perSecond: Number.NaN }]);
  assert.deepEqual(
    rows.map(({ figure }) => figure),
    ['resident memory', 'most resident memory, with pods', 'start to ready'],
  );
});

test('rows of the scale bench where all pods came before: no rate of events', () => {
  const rows = rowsOf([{ ...of(5, 1), perSecond: 0 }]);
  assert.deepEqual(
    rows.filter(({ unit }) => unit === '/s'),
    [],
  );
  assert.ok(rows.some(({ conditions }) => conditions === '5 nodes × 1 DaemonSet, 550 pods'));
});

test('rows of the scale bench with full load: its peak has an aim', () => {
  const load = { rate: 5000, p99: 1, peak: 121 };
  const [row] = rowsOf([{ ...of(5, 1), load }]).filter(({ figure }) => figure.includes('full load'));
  assert.deepEqual([row?.measured, row?.aim], [121, { atMost: 150 }]);
});
