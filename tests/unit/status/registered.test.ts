import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registeredSource } from '../../../webhook/status/collect/sources.ts';

test('a webhook behind a Service is trusted only with a caBundle, one at a URL also without', () => {
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
  const picked = pick({ metadata: { uid: 'u', name: 'cni-gate', resourceVersion: '1' }, webhooks });
  assert.deepEqual(
    picked.map(({ name, trusted }) => ({ name, trusted })),
    cases.map(([, trusted], at) => ({ name: `${at}`, trusted })),
  );
});

test('of a webhook its target, its caBundle and its failurePolicy are kept', () => {
  const service = { namespace: 'net', name: 'gate' };
  const picked = registeredSource('mutating').pick({
    metadata: { uid: 'u', name: 'cni-gate', resourceVersion: '1' },
    webhooks: [
      { name: 'a', clientConfig: { service, caBundle: 'eA==' }, failurePolicy: 'Fail' },
      { name: 'b', clientConfig: { service: { ...service, port: 8443 } }, failurePolicy: 'Ignore' },
      { name: 'c', clientConfig: { url: 'https://gate.example' } },
    ],
  });
  assert.deepEqual(
    picked.map(({ rules: _, ...webhook }) => webhook),
    [
      {
        name: 'a',
        trusted: true,
        service: { ...service, port: 443 },
        caBundle: 'eA==',
        failurePolicy: 'Fail',
      },
      { name: 'b', trusted: false, service: { ...service, port: 8443 }, failurePolicy: 'Ignore' },
      { name: 'c', trusted: true, url: 'https://gate.example' },
    ],
  );
  assert.deepEqual(
    picked.map(({ rules }) => rules.path),
    ['/', '/', undefined],
  );
});
