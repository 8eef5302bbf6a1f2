import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, operationOf } from '../../../webhook/cluster/operation.ts';

const cases: [method: string, path: string, sentence: string][] = [
  ['GET', '/api/v1/namespaces', 'list namespaces'],
  ['GET', '/api/v1/namespaces/shop', 'get namespaces shop'],
  ['PUT', '/api/v1/namespaces/shop/finalize', 'update namespaces/finalize shop'],
  ['GET', '/api/v1/namespaces/shop/pods', 'list pods in namespace shop'],
  ['PATCH', '/api/v1/namespaces/shop/pods/web/status', 'patch pods/status web in namespace shop'],
  ['POST', '/api/v1/namespaces/shop/secrets', 'create secrets in namespace shop'],
  ['DELETE', '/api/v1/namespaces/shop/secrets', 'deletecollection secrets in namespace shop'],
  ['DELETE', '/api/v1/namespaces/shop/pods/web', 'delete pods web in namespace shop'],
  ['GET', '/apis/apps/v1/daemonsets', 'list daemonsets.apps'],
  [
    'PUT',
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate',
    'update mutatingwebhookconfigurations.admissionregistration.k8s.io cni-gate',
  ],
  ['GET', '/version', 'get /version'],
];

for (const [method, path, sentence] of cases) {
  test(`${method} ${path} is: ${sentence}`, () => {
    assert.equal(describe(operationOf(method, path)), sentence);
  });
}

test('a watch is its own verb', () => {
  assert.equal(operationOf('GET', '/api/v1/namespaces', true).verb, 'watch');
});
