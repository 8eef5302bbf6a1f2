import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ApiPod, toAgentFacts } from '../../../webhook/readiness/to-facts.ts';
import { apiAgent } from './objects.ts';

suite('what is read of a pod of a DaemonSet', () => {
  test('whose it is: of several owners the one that controls it, if one does', () => {
    const owned = (...ownerReferences: NonNullable<ApiPod['metadata']['ownerReferences']>): string => {
      const pod = apiAgent('n1');
      return toAgentFacts({ ...pod, metadata: { ...pod.metadata, ownerReferences } }).owner;
    };
    assert.equal(owned({ uid: 'other' }, { uid: 'mine', controller: true }), 'mine');
    assert.equal(owned({ uid: 'other', controller: false }, { uid: 'third', controller: null }), '');
    assert.equal(owned(), '');
  });

  test('what it lacks: containers that are not ready, but no init container that did its work', () => {
    const reason = (reason: string): string => {
      const pod = apiAgent('n1', { ready: false });
      const install = { name: 'copy-files', ready: false, state: { terminated: { reason } } };
      return toAgentFacts({ ...pod, status: { ...pod.status, initContainerStatuses: [install] } }).reason;
    };
    assert.equal(reason('Completed'), 'install-cni');
    assert.equal(reason('Error'), 'copy-files (Error), install-cni');
  });
});
