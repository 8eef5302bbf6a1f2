import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registeredSource } from '../../../webhook/cluster/status/registered.ts';

test('a webhook behind a Service is trusted by its caBundle alone, one at a URL also without', () => {
  const service = { namespace: 'cni-gate', name: 'cni-gate' };
  const cases: [object, boolean][] = [
    [{ service, caBundle: 'eA==' }, true],
    [{ service, caBundle: '' }, false],
    [{ service, caBundle: null }, false],
    [{ service }, false],
    [{ url: 'https://gate.example' }, true],
    [{ url: 'https://gate.example', service: null }, true],
  ];
  const { pick } = registeredSource('mutating');
  const webhooks = cases.map(([clientConfig], at) => ({ name: `${at}`, clientConfig }));
  assert.deepEqual(
    pick({ metadata: { uid: 'u', name: 'cni-gate', resourceVersion: '1' }, webhooks }),
    cases.map(([, trusted], at) => ({ name: `${at}`, trusted })),
  );
});
