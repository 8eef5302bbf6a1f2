import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { leftAloneNotice, podNotice, withoutLead, workloadNotice } from '../../../webhook/repair/notices.ts';
import type { Recreation } from '../../../webhook/repair/types.ts';
import { controllerOf, failedPod } from './support.ts';

const recreation = (name: string, why: string): Recreation => ({
  pod: failedPod({ name }),
  how: 'delete',
  why,
  probes: false,
});
const web = controllerOf('web', 'Deployment');

suite('events of repair', () => {
  test('on a workload: one reason for all its pods', () => {
    const both = [recreation('a', 'it is so'), recreation('b', 'it is so')] as const;
    assert.equal(
      workloadNotice(web, [...both], 'recreated').note,
      'the proofs of the networks of 2 pods failed, so they are deleted to be recreated (a on node n1, b on node n1): it is so',
    );
  });

  test('on a workload: of several reasons, whose it is', () => {
    const { note } = workloadNotice(web, [recreation('a', 'it is so'), recreation('b', 'not')], 'recreated');
    assert.match(note, /\(a on node n1, b on node n1\), the first one because it is so$/);
  });

  test('of a pod that would be recreated: the settings for which it is not', () => {
    const { note } = podNotice(recreation('a', 'it is so'), 'wouldRecreate');
    assert.match(note, /but repair only reports \(repair\.mode is audit, or proof\.mode warn\): it is so$/);
  });

  test('in a table: without the pod and its node', () => {
    const { note } = podNotice(recreation('a', 'it is so'), 'recreated');
    assert.equal(withoutLead(note), 'it is deleted to be recreated: it is so');
    const left = leftAloneNotice({ pod: failedPod({ name: 'a' }), reason: 'no-controller', why: '' });
    assert.match(
      withoutLead(left.note),
      /^it is not recreated: it has no controller that would recreate it: /,
    );
    assert.equal(withoutLead('something else'), 'something else');
  });

  test('of a pod that waits for a node: why, and what will be, however long the reason', () => {
    const note = (why: string) =>
      leftAloneNotice({ pod: failedPod({ name: 'a' }), reason: 'node-not-ready', why }).note;
    assert.match(
      note('its agent fails'),
      /no other node is: look at the DaemonSet of its network \(its agent fails\)\. It is recreated when a node is ready$/,
    );
    assert.ok(Buffer.byteLength(note('x'.repeat(2000))) <= 1024);
  });

  test('of a pod that ended: what its Job needs', () => {
    const pod = failedPod({ name: 'a', ended: true, controller: controllerOf('job', 'Job') });
    const { note } = leftAloneNotice({ pod, reason: 'ended', why: '' });
    assert.match(note, /it has ended, .* unless its podFailurePolicy ignores exit code 95 \(and 255, .*\)$/);
  });
});
