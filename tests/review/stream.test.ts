import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cniGate } from '../support/command.ts';
import { reviewText } from './support.ts';

const count = 2000;

/** A document as `helm template` writes it; every third is no workload, every tenth is empty. */
function document(index: number): string {
  const source = `---\n# Source: shop/templates/${index}.yaml\n`;
  if (index % 10 === 9) return source;
  if (index % 3 === 0) {
    return `${source}apiVersion: v1\nkind: Service\nmetadata:\n  name: web-${index}\nspec:\n  ports:\n    - port: 80\n`;
  }
  return `${source}apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-${index}
  labels:
    app.kubernetes.io/name: web
    app.kubernetes.io/managed-by: Helm
spec:
  replicas: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: web
  template:
    metadata:
      annotations:
        checksum/config: ${index.toString(16).padStart(64, 'f')}
      labels:
        app.kubernetes.io/name: web
    spec:
      containers:
        - name: web
          image: "web:1.10"
          ports:
            - name: http
              containerPort: 8080
          readinessProbe:
            httpGet: {path: /, port: http}
          resources:
            {}
      volumes:
        - name: config
          configMap: {name: web, defaultMode: 0444}
`;
}

const indexes = Array.from({ length: count }, (_, index) => index);
const stream = indexes.map(document).join('');
const empty = indexes.filter((index) => index % 10 === 9).length;
const services = indexes.filter((index) => index % 10 !== 9 && index % 3 === 0).length;
const deployments = count - empty - services;

test(`${count} documents: one pass, no progress in a pipe`, () => {
  const args = ['review', '-f', '-', '-n', 'shop', '--profile', 'cilium'];
  const { status, stdout, stderr } = cniGate(args, { input: stream });
  assert.equal(status, 0);
  assert.equal(stderr, '');
  assert.ok(
    stdout.endsWith(
      `\nreviewed ${deployments} workloads: ${deployments} injected, 0 refused\n0 warnings, ${services} other objects (Service ${services})\npassed\n`,
    ),
  );
  assert.equal(stdout.match(/^injected Deployment shop\/web-/gm)?.length, deployments);
  assert.equal(stdout.match(/^\+ {8}- name: cni-gate-validator$/gm)?.length, deployments);
});

test(`${count} documents: every output`, async (t) => {
  const reviewed = await reviewText(t, stream, { namespace: 'shop', profile: 'cilium' });
  const yaml = reviewed.yaml();
  assert.equal(yaml.match(/^---$/gm)?.length, count);
  assert.equal(yaml.match(/^# Source: /gm)?.length, count);
  assert.equal(yaml.match(/^ {8}- name: cni-gate-validator$/gm)?.length, deployments);
  assert.equal(yaml.match(/defaultMode: 0444/g)?.length, deployments);
  const { summary, workloads } = reviewed.json();
  assert.equal(summary.injected, deployments);
  assert.deepEqual(summary.otherObjects, { Service: services });
  assert.equal(workloads.at(-1)?.name, 'web-1997');
  assert.equal(workloads.at(-1)?.line, stream.split('\n').indexOf('  name: web-1997') - 2);
  assert.match(reviewed.junit(), new RegExp(`tests="${deployments}" failures="0" errors="0" skipped="0"`));
});
