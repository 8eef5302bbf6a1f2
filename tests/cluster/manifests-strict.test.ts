import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { pod, restricted } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { byPolicy, overlayPath, tryPod } from './installed/overlay.ts';
import { initNames, makeNamespace, testThatItWorks, type UserPod } from './installed/working.ts';

const { cluster, replicas } = await installed('strict');

test('a first start logs nothing at warn or above', async () => {
  const logged = (text: string): number =>
    replicas.flatMap(({ lines }) => lines).filter(({ msg }) => msg === text).length;
  await eventually(async () => {
    assert.equal(logged('serving admission reviews'), 2);
    assert.equal(logged('this replica leads'), 1);
  });
  const warnings = replicas.flatMap(({ lines }) => lines.filter(({ level }) => level !== 'info'));
  assert.deepEqual(warnings, []);
});

testThatItWorks(cluster);

test('the manifests pass strict validation, and their namespace enforces Pod Security restricted', async () => {
  await cluster.kubectl([
    ...['apply', '--dry-run=server', '--validate=strict', '--warnings-as-errors'],
    ...['-k', overlayPath('strict')],
  ]);
  const { metadata } = await cluster.api.get<{ metadata: { labels: Record<string, string> } }>(
    '/api/v1/namespaces/cni-gate',
  );
  assert.equal(metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted');
});

test('a pod that complies with Pod Security restricted still does after the injection', async () => {
  await makeNamespace(cluster, 'vault', {
    [profileLabel]: 'cilium.linkerd',
    'pod-security.kubernetes.io/enforce': 'restricted',
  });
  const stored = await cluster.api.post<UserPod>('/api/v1/namespaces/vault/pods', pod('web', restricted));
  assert.deepEqual(initNames(stored), [validatorContainer]);
});

const resources: Record<string, object | undefined> = {
  Guaranteed: { requests: { cpu: '100m', memory: '100Mi' }, limits: { cpu: '100m', memory: '100Mi' } },
  Burstable: { requests: { cpu: '100m', memory: '100Mi' }, limits: { cpu: '200m', memory: '200Mi' } },
};

async function makeQuota(name: string, spec: object): Promise<void> {
  await makeNamespace(cluster, name, { [profileLabel]: 'cilium' });
  const metadata = { namespace: name, name: 'all' };
  await cluster.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec });
  await cluster.api.until<{ status?: { hard?: object } }>(
    `/api/v1/namespaces/${name}/resourcequotas`,
    ({ status }) => status?.hard,
  );
}

test('a ResourceQuota that requires requests and limits admits injected pods, in their QoS class', async () => {
  await makeQuota('budget', {
    hard: { 'requests.cpu': '4', 'requests.memory': '4Gi', 'limits.cpu': '4', 'limits.memory': '4Gi' },
  });
  for (const [qosClass, given] of Object.entries(resources)) {
    const containers = [{ name: 'web', image: 'example/web', resources: given }];
    const stored = await cluster.api.post<UserPod>(
      '/api/v1/namespaces/budget/pods',
      pod(qosClass.toLowerCase(), { containers }),
    );
    assert.equal(stored.status.qosClass, qosClass);
    assert.deepEqual(initNames(stored), [validatorContainer]);
  }
});

test('a quota for BestEffort pods admits an injected one, which is still BestEffort', async () => {
  await makeQuota('spare', { hard: { pods: '1' }, scopes: ['BestEffort'] });
  const stored = await cluster.api.post<UserPod>('/api/v1/namespaces/spare/pods', pod('web'));
  assert.equal(stored.status.qosClass, 'BestEffort');
  // the quota counted the injected pod as BestEffort
  await assert.rejects(cluster.api.post('/api/v1/namespaces/spare/pods', pod('more')), /exceeded quota/);
});

test('while cni-gate is down, no pod is created in a namespace that opted in', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await assert.rejects(tryPod(cluster, 'shop', pod('late')), /failed calling webhook "pods.cni-gate.io"/);
  await tryPod(cluster, 'plain', pod('late'));
});

test("without cni-gate's mutating webhook, the policy refuses the pod", async () => {
  await cluster.kubectl(['delete', 'mutatingwebhookconfigurations', 'cni-gate']);
  // the API server still calls the webhook for a moment
  await eventually(() =>
    assert.rejects(tryPod(cluster, 'shop', pod('late')), (error: unknown) => byPolicy(error)),
  );
  await tryPod(cluster, 'plain', pod('late'));
});
