import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isOutdated, type Latest } from '../../../webhook/steer/outdated.ts';
import { node, waiting } from './support.ts';

suite('a nomination that was planned a while ago', () => {
  const pod = waiting('web');
  const latest: Latest = { pod, node: node('n2'), accepts: (_, name) => name === 'n2' };
  const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };
  const cases: [what: string, more: Partial<Latest>, outdated: boolean][] = [
    ['is written where nothing changed', {}, false],
    [
      'is written where the node changed and still suits',
      { node: node('n2', { labels: { zone: 'b' } }) },
      false,
    ],
    ['is not where the pod waits no more', { pod: undefined }, true],
    ['is not where the pod changed', { pod: { ...pod, version: '11' } }, true],
    ['is not where the node is gone', { node: undefined }, true],
    ['is not where the node is not ready any more', { accepts: () => false }, true],
    ['is not where the node is cordoned', { node: node('n2', { unschedulable: true }) }, true],
    ['is not where the node is tainted', { node: node('n2', { taints: [taint] }) }, true],
    ['is not where the refused node is ready', { accepts: () => true }, true],
  ];
  for (const [what, more, outdated] of cases) {
    test(what, () => assert.equal(isOutdated({ pod }, { ...latest, ...more }), outdated));
  }
});
