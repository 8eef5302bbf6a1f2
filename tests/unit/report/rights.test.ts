import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  installRights,
  type Right,
  rightText,
  serverRights,
} from '../../../webhook/report/observe/rights.ts';
import { policyOf } from '../../support/configurations.ts';

const texts = (rights: Right[]): string[] => [...new Set(rights.map(rightText))].toSorted();

test('with everything on, the service account needs all that the manifests give it, in its own namespace', () => {
  const policy = policyOf({ repair: { mode: 'recreate' } });
  const needed = texts(serverRights('net', policy, 'own'));
  for (const right of [
    'list nodes',
    'patch pods/status',
    'delete pods',
    'patch mutatingwebhookconfigurations.admissionregistration.k8s.io cni-gate',
    'update leases.coordination.k8s.io cni-gate-leader in namespace net',
    'update secrets own in namespace net',
    'create secrets in namespace net',
  ])
    assert.ok(needed.includes(right), right);
});

test('what the configuration turns off needs no right, nor do certificates from elsewhere', () => {
  const policy = policyOf({ repair: { mode: 'off' }, steer: { mode: 'off' } });
  const needed = texts(serverRights('cni-gate', policy, undefined));
  assert.ok(needed.includes('list nodes'));
  for (const right of ['patch pods/status', 'delete pods', 'create secrets in namespace cni-gate'])
    assert.ok(!needed.includes(right), right);
  assert.ok(needed.every((right) => !right.includes('webhookconfigurations')));
});

test('the rights to install name every kind of the manifests', () => {
  const needed = texts(installRights());
  assert.ok(needed.includes('patch validatingadmissionpolicies.admissionregistration.k8s.io'));
  assert.equal(needed.length, 2 * 15);
});
