import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { metric } from './harness/metrics.ts';
import { addNode } from './harness/nodes.ts';
import { registration, webhookName } from './harness/registration.ts';
import { startServer } from './harness/server.ts';
import { serviceAt } from './harness/service.ts';

const own = { namespace: 'cni-gate', name: 'cni-gate' };

interface Pod {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { initContainers?: { name: string }[]; nodeName?: string };
  status: { phase: string; podIP: string };
}

const cluster = await Cluster.start();
after(() => cluster.stop());
const authorityFile = join(cluster.folder, 'webhook-authority.pem');
const server = await startServer({
  host: '10.254.1.1',
  args: ['--profile', 'cilium', '--tls-ca-out', authorityFile],
});
after(() => server.end());
await addNode(cluster, 'n1');
await cluster.kubectl(['apply', '-f', '-'], {
  input: [
    namespace(own.namespace),
    namespace('meshed', { [profileLabel]: 'cilium' }),
    namespace('plain'),
    ...serviceAt(own.namespace, own.name, [server]),
    registration(own, readFileSync(authorityFile)),
  ],
});

// the API server reads webhook configurations by a watch: it knows a new one after a moment
await eventually(async () => assert.equal(await dryRunNames(), `${validatorContainer} migrate`));

test("a Deployment's pod in a namespace that opted in is stored with our init container first", async () => {
  await cluster.kubectl(['apply', '-f', '-'], { input: [deployment('meshed')] });
  const pod = await running('meshed');
  assert.deepEqual(
    pod.spec.initContainers?.map(({ name }) => name),
    [validatorContainer, 'migrate'],
  );
});

test('a dry run shows the same', async () => {
  assert.equal(await dryRunNames(), `${validatorContainer} migrate`);
});

test('a namespace that did not opt in sees no call at all', async () => {
  const before = await calls();
  assert.ok(before > 0, 'the API server counts no calls where there were some');
  await cluster.kubectl(['apply', '-f', '-'], { input: [deployment('plain')] });
  const pod = await running('plain');
  assert.deepEqual(
    pod.spec.initContainers?.map(({ name }) => name),
    ['migrate'],
  );
  assert.equal(await calls(), before);
});

test("a process stands for a Deployment's pod: the Service finds it at the pod's address", async () => {
  const name = 'stand-in';
  const selector = { app: 'web' };
  await cluster.kubectl(['apply', '-f', '-'], {
    input: [
      deployment(own.namespace),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: own.namespace, name },
        spec: { selector, ports: [{ port: 443, targetPort: 8443 }] },
      },
    ],
  });
  const { status } = await running(own.namespace);
  const caFile = join(cluster.folder, `${name}.pem`);
  const standIn = await startServer({
    host: status.podIP,
    args: [
      ...['--port', '8443', '--profile', 'cilium', '--tls-ca-out', caFile],
      ...['--tls-names', `${name}.${own.namespace}.svc`],
    ],
  });
  after(() => standIn.end());
  await cluster.kubectl(['apply', '-f', '-'], {
    input: [
      namespace('stood-in-for', { 'example.com/by': name }),
      registration({ namespace: own.namespace, name }, readFileSync(caFile), {
        name: `${name}.cni-gate.io`,
        label: 'example.com/by',
      }),
    ],
  });
  await eventually(async () => {
    await cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], { input: [pod('stood-in-for')] });
    assert.ok(standIn.lines.some((line) => line.namespace === 'stood-in-for'));
  });
});

/** The init containers that a pod would be stored with. */
function dryRunNames(): Promise<string> {
  const names = 'jsonpath={.spec.initContainers[*].name}';
  return cluster.kubectl(['apply', '--dry-run=server', '-o', names, '-f', '-'], {
    input: JSON.stringify(pod('meshed')),
  });
}

/** How often the API server called the webhook, however that ended. */
function calls(): Promise<number> {
  return metric(cluster.api, 'apiserver_admission_webhook_request_total', { name: webhookName });
}

/** The Deployment's pod, once kwok runs it. */
function running(where: string): Promise<Pod> {
  return cluster.api.until<Pod>(
    `/api/v1/namespaces/${where}/pods?labelSelector=app%3Dweb`,
    ({ status }) => status.phase === 'Running',
  );
}

function namespace(name: string, labels: Record<string, string> = {}): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function template(): object {
  return {
    initContainers: [{ name: 'migrate', image: 'example/web' }],
    containers: [{ name: 'web', image: 'example/web' }],
  };
}

function pod(where: string): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: where, name: 'alone' }, spec: template() };
}

function deployment(where: string): object {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: where, name: 'web' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: template() } },
  };
}
