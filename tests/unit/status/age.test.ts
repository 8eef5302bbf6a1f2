import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageText } from '../../../webhook/status/age.ts';

const [minute, hour, day] = [60, 3600, 86_400];

/** As `kubectl get` prints them, from the tests of k8s.io/apimachinery/pkg/util/duration. */
const cases: [seconds: number, text: string][] = [
  [-5, '0s'],
  [0, '0s'],
  [59.9, '59s'],
  [119, '119s'],
  [2 * minute, '2m'],
  [3 * minute + 20, '3m20s'],
  [12 * minute, '12m'],
  [12 * minute + 59, '12m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [5 * hour + 10 * minute, '5h10m'],
  [8 * hour + minute, '8h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [2 * day + 3 * hour, '2d3h'],
  [8 * day + 3 * hour, '8d'],
  [700 * day, '700d'],
  [2 * 365 * day + day, '2y1d'],
  [9 * 365 * day + day, '9y'],
];

test('ages are written as kubectl writes them', () => {
  assert.deepEqual(
    cases.map(([seconds]) => ageText(seconds * 1000)),
    cases.map(([, text]) => text),
  );
});
