import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ApiPod, toAgentFacts } from '../../../../webhook/nodes/readiness/facts.ts';
import { apiAgent } from './objects.ts';

suite("the facts of a DaemonSet's pod", () => {
  test('the owner is the controller among several', () => {
    const owned = (...ownerReferences: NonNullable<ApiPod['metadata']['ownerReferences']>): string => {
      const pod = apiAgent('n1');
      return toAgentFacts({ ...pod, metadata: { ...pod.metadata, ownerReferences } }).owner;
    };
    assert.equal(owned({ uid: 'other' }, { uid: 'mine', controller: true }), 'mine');
    assert.equal(owned({ uid: 'other', controller: false }, { uid: 'third', controller: null }), '');
    assert.equal(owned(), '');
  });

  test('the reason lists containers that are not ready, without completed init containers', () => {
    const reason = (reason: string): string => {
      const pod = apiAgent('n1', { ready: false });
      const install = { name: 'copy-files', ready: false, state: { terminated: { exitCode: 1, reason } } };
      return toAgentFacts({ ...pod, status: { ...pod.status, initContainerStatuses: [install] } }).reason;
    };
    assert.equal(reason('Completed'), 'install-cni');
    assert.equal(reason('Error'), 'copy-files (Error), install-cni');
  });
});
