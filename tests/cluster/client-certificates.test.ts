import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { blocks } from '../support/pages.ts';
import { programPath } from './binaries/ensure.ts';
import { beginLoad } from './certificates/load.ts';
import { eventually } from './harness/eventually.ts';
import { ownMetric } from './harness/metrics.ts';
import { addNode } from './harness/nodes.ts';
import { namespace, pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { runningPods, trusted } from './installed/installation.ts';
import { applyOwn, tryPod } from './installed/overlay.ts';
import { startPod } from './installed/pod.ts';
import { initNames, makeNamespace, type UserPod } from './installed/working.ts';

/* Runs the commands of docs/guides/certificates.md, "Only the API server may call", with the component's files. */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const guide = readFileSync(join(checkout, 'docs/guides/certificates.md'), 'utf8');
const section = guide.slice(guide.indexOf('\n## Only the API server may call'));
const component = join(checkout, 'manifests/components/client-certificates');
const folder = mkdtempSync(join(tmpdir(), 'clients-'));
const file = (name: string): string => join(folder, name);
const [makeCertificates = '', makeConfigMap = '', lookAtIt = ''] = blocks(section, 'console');
const flag = blocks(section, 'text').join('');

assert.match(makeCertificates, /^openssl /);
assert.match(makeConfigMap, /create configmap cni-gate-clients/);
assert.match(lookAtIt, /--dry-run=server/);

function bash(script: string, env: NodeJS.ProcessEnv = {}): string {
  return execFileSync('bash', ['-euc', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const moved = (text: string): string => text.replaceAll('/etc/kubernetes/pki/cni-gate', folder);

bash(makeCertificates);
for (const name of ['admission-configuration.yaml', 'webhooks.yaml']) {
  writeFileSync(file(name), moved(readFileSync(join(component, 'control-plane', name), 'utf8')));
}
const cluster = await startCluster({ flags: { 'kube-apiserver': [moved(flag)] } });
const kubectl = {
  KUBECONFIG: cluster.admin.kubeconfig,
  PATH: `${dirname(programPath('kubectl'))}:${process.env.PATH}`,
};
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await cluster.apply(namespace('cni-gate'));
bash(makeConfigMap, kubectl);
await applyOwn(cluster, { overlay: 'strict', components: ['client-certificates'] });
const replicas = await Promise.all((await runningPods(cluster, 2)).map((one) => startPod(cluster, one)));
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
await trusted(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

test('an API server that presents its certificate gets answers', async () => {
  await eventually(async () => {
    const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
    assert.deepEqual(initNames(stored), [validatorContainer]);
  });
  // the last command is left out: it reads the log of pods, and pods have no log here
  const [label = '', create = ''] = lookAtIt.split('\n');
  assert.match(bash(`${label}\n${create}`, kubectl), /namespace\/shop .*labeled\n.*cni-gate-validator/);
});

test('the API server presents it to the validating webhooks too', async () => {
  await cluster.api.post('/api/v1/namespaces/shop/pods', pod('bound'));
  await cluster.api.until<{ spec: { nodeName?: string } }>(
    '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dbound',
    ({ spec }) => spec.nodeName !== undefined,
  );
  await eventually(async () => {
    const texts = await Promise.all(replicas.map(async (replica) => (await replica.ops('/metrics')).text()));
    const all = texts.join('\n');
    assert.match(all, /cni_gate_admission_reviews_total\{.*webhook="gate".*\} [1-9]/);
    assert.doesNotMatch(all, /cni_gate_bad_requests_total\{code="CNI_GATE_CLIENT_\w+"\} [1-9]/);
  });
});

test('a change of the authority, with both trusted meanwhile, refuses no creation', async (t) => {
  const load = beginLoad(t, cluster, 20);
  // the new files are created in another folder, because the API server may read the current ones at any time
  bash(`mkdir next && cd next && ${makeCertificates}`);
  const [old, next] = [file('clients.crt'), file('next/clients.crt')].map((path) =>
    readFileSync(path, 'utf8'),
  );
  await trust(`${old}${next}`);
  bash('mv next/apiserver.key next/apiserver.crt .');
  // client-go may use a certificate for a second after it read the file (k8s.io/client-go/transport, `isStale`)
  await sleep(2000);
  await trust(`${next}`);
  await load.more(10);
  // client-go closes the connections that use the old certificate, together with the calls in flight on them
  const { failures } = await load.end();
  assert.deepEqual(
    failures.filter((text) => !/use of closed network connection/.test(text)),
    [],
  );
});

test('an API server that presents none is refused: its user gets a credentials error, our log the reason', async () => {
  // the kubeconfig that the API server uses for webhooks has a user for port 443 only
  const ports = [443, 8443].map((port) => ({ name: `https-${port}`, port, targetPort: 'https' }));
  await cluster.api.patch('/api/v1/namespaces/cni-gate/services/cni-gate', { spec: { ports } });
  await cluster.api.request('PATCH', `${webhooks}/cni-gate`, {
    type: 'application/json-patch+json',
    body: [{ op: 'replace', path: '/webhooks/0/clientConfig/service/port', value: 8443 }],
  });
  await eventually(() =>
    assert.rejects(
      tryPod(cluster, 'shop', pod('web')),
      /failed calling webhook.*asked for the client to provide credentials/s,
    ),
  );
  await eventually(async () => {
    const logged = replicas.flatMap(({ lines }) => lines);
    assert.ok(logged.some((line) => line.code === 'CNI_GATE_CLIENT_CERTIFICATE'));
  });
});

const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

async function trust(authorities: string): Promise<void> {
  await cluster.api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate-clients', {
    data: { 'ca.crt': authorities },
  });
  for (const replica of replicas) {
    const labels = { source: 'client-ca', result: 'success' };
    const reloads = (): Promise<number> => ownMetric([replica], 'cni_gate_reloads_total', labels);
    const before = await reloads();
    await replica.refresh();
    await eventually(async () => assert.ok((await reloads()) > before));
  }
}
