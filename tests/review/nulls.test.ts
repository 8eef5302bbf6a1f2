import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceOf, reviewText } from './support.ts';

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels:
        app: web
        app.kubernetes.io/version:
      annotations:
        checksum/config: ~
    spec:
      containers:
        - name: web
          image: web:1
`;

test('labels and annotations without a value are accepted, and stay as they are', async (t) => {
  const namespace = `${namespaceOf('shop', 'cilium')}    team:\n`;
  const reviewed = await reviewText(t, [namespace, deployment].join('---\n'));
  assert.deepEqual(reviewed.faults, []);
  assert.deepEqual(reviewed.reported, ['injected promised Deployment shop/web']);
  assert.match(reviewed.yaml(), /^ {8}app\.kubernetes\.io\/version:$/m);
  assert.match(reviewed.yaml(), /^ {8}checksum\/config: ~$/m);
});

test('an empty profile label on a pod is set by the injection; on a namespace it does not opt in', async (t) => {
  const own = deployment.replace('app.kubernetes.io/version:', 'cni-gate.io/profile:');
  const reviewed = await reviewText(t, [namespaceOf('shop', 'cilium'), own].join('---\n'));
  assert.deepEqual(reviewed.reported, ['injected promised Deployment shop/web']);
  assert.match(reviewed.yaml(), /^ {8}cni-gate\.io\/profile: cilium$/m);
  const optedOut = await reviewText(t, [namespaceOf('shop', ''), own].join('---\n'));
  assert.deepEqual(optedOut.reported, ['skipped not-opted-in Deployment shop/web']);
});
