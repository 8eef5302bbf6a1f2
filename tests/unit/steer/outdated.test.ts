import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isOutdated, type Latest } from '../../../webhook/steer/plan.ts';
import { node, waiting } from './support.ts';

suite('a planned nomination', () => {
  const pod = waiting('web');
  const latest: Latest = { pod, node: node('n2'), accepts: (_, name) => name === 'n2' };
  const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };
  const cases: [what: string, more: Partial<Latest>, outdated: boolean][] = [
    ['is written if nothing changed', {}, false],
    ['is written if the node changed and still fits', { node: node('n2', { labels: { zone: 'b' } }) }, false],
    ['is outdated if the pod no longer waits', { pod: undefined }, true],
    ['is outdated if the pod changed', { pod: { ...pod, version: '11' } }, true],
    ['is outdated if the node is gone', { node: undefined }, true],
    ['is outdated if the node is no longer ready', { accepts: () => false }, true],
    ['is outdated if the node is cordoned', { node: node('n2', { unschedulable: true }) }, true],
    ['is outdated if the node has a taint', { node: node('n2', { taints: [taint] }) }, true],
    ['is outdated if the refused node is ready', { accepts: () => true }, true],
  ];
  for (const [what, more, outdated] of cases) {
    test(what, () => assert.equal(isOutdated({ pod }, { ...latest, ...more }), outdated));
  }
});
