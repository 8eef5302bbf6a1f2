import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type ApiNeighbourly,
  isUnsatisfiable,
  type PlacedPod,
  pickNeighbours,
} from '../../../webhook/steer/neighbours.ts';

const labels = { app: 'web', version: '2' };
const selector = { matchLabels: { app: 'web' } };
const byHost = { topologyKey: 'kubernetes.io/hostname', labelSelector: selector };

type Constraint = NonNullable<ApiNeighbourly['topologySpreadConstraints']>[number];
const spread = (more: Constraint = {}): ApiNeighbourly => ({
  topologySpreadConstraints: [{ ...byHost, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', ...more }],
});
const apart = (more: object = {}): ApiNeighbourly => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...byHost, ...more }] } },
});

const pods = (count: number, more: Partial<PlacedPod> = {}): Map<string, PlacedPod> =>
  new Map(
    Array.from({ length: count }, (_, index) => [
      `u${index}`,
      { namespace: 'shop', labels, leaving: false, ...more },
    ]),
  );

const unsatisfiable = (
  spec: ApiNeighbourly,
  there: Map<string, PlacedPod> | undefined,
  refused: Map<string, PlacedPod> | undefined = pods(0),
): boolean =>
  isUnsatisfiable({ namespace: 'shop', neighbours: pickNeighbours(spec, 'shop', labels) }, there, refused);

suite('a spread over hosts that must be', () => {
  const cases: [what: string, there: Map<string, PlacedPod>, more: Constraint, expected: boolean][] = [
    ['no pod there', pods(0), {}, false],
    ['one too many', pods(1), {}, true],
    ['as many as may be', pods(1), { maxSkew: 2 }, false],
    ['pods of another namespace', pods(9, { namespace: 'other' }), {}, false],
    ['pods with other labels', pods(9, { labels: { app: 'other' } }), {}, false],
    ['pods on their way out', pods(9, { leaving: true }), {}, false],
    ['a selector that is empty selects all', pods(9, { labels: {} }), { labelSelector: {} }, true],
    ['no selector selects none', pods(9), { labelSelector: null }, false],
    ['a key of which the pods have another value', pods(9), { matchLabelKeys: ['version'] }, true],
    [
      'a key of which the pod has another value',
      pods(9, { labels: { app: 'web', version: '1' } }),
      { matchLabelKeys: ['version'] },
      false,
    ],
    [
      'a key that the pod does not have',
      pods(9, { labels: { app: 'web' } }),
      { matchLabelKeys: ['none'] },
      true,
    ],
    ['one that is only wished for', pods(9), { whenUnsatisfiable: 'ScheduleAnyway' }, false],
    // Kubernetes wants it said, and takes the hard one for the usual
    ['one that does not say', pods(9), { whenUnsatisfiable: '' }, true],
    ['one over zones', pods(9), { topologyKey: 'topology.kubernetes.io/zone' }, false],
  ];
  for (const [what, there, more, expected] of cases) {
    test(`${what}: ${expected ? 'unsatisfiable' : 'worth a try'}`, () =>
      assert.equal(unsatisfiable(spread(more), there), expected));
  }

  test('what the refused node has counts against it', () => {
    assert.equal(unsatisfiable(spread(), pods(5), pods(4)), true);
    assert.equal(unsatisfiable(spread(), pods(4), pods(4)), false);
    assert.equal(unsatisfiable(spread(), pods(4), pods(4, { leaving: true })), true);
  });

  test('a pod that is not selected itself does not count', () => {
    const others = { labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] } };
    assert.equal(unsatisfiable(spread(others), pods(1, { labels: { app: 'db' } })), false);
    assert.equal(unsatisfiable(spread(others), pods(2, { labels: { app: 'db' } })), true);
  });

  test('nodes that are not known are worth a try', () =>
    assert.equal(unsatisfiable(spread(), undefined), false));
});

suite('pods that must be apart', () => {
  const cases: [what: string, there: Map<string, PlacedPod>, more: object, expected: boolean][] = [
    ['nobody there', pods(0), {}, false],
    ['one of them', pods(1), {}, true],
    ['one of them on its way out', pods(1, { leaving: true }), {}, true],
    ['one of another namespace', pods(1, { namespace: 'other' }), {}, false],
    ['one with other labels', pods(1, { labels: {} }), {}, false],
    ['the own namespace by its name', pods(1), { namespaces: ['shop'] }, true],
    ['other namespaces as well', pods(1), { namespaces: ['shop', 'other'] }, false],
    ['namespaces by their labels', pods(1), { namespaceSelector: {} }, false],
    ['labels that must differ', pods(1), { mismatchLabelKeys: ['version'] }, false],
    ['zones', pods(1), { topologyKey: 'topology.kubernetes.io/zone' }, false],
  ];
  for (const [what, there, more, expected] of cases) {
    test(`${what}: ${expected ? 'unsatisfiable' : 'worth a try'}`, () =>
      assert.equal(unsatisfiable(apart(more), there), expected));
  }
});
