import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { after, test } from 'node:test';
import { issueServing } from '../../certs/issue.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { install } from './installed/installation.ts';
import { answering, type Patch } from './installed/neighbour.ts';
import { byPolicy, tryPod } from './installed/overlay.ts';
import { initNames, makeNamespace, type UserPod } from './installed/working.ts';

/* An attacker has the certificate authority's key and the addresses of cni-gate: docs/threat-model.md. */

const cluster = await startCluster();
const { replicas } = await install(cluster, 'strict');
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
await makeNamespace(cluster, 'guarded', {
  [profileLabel]: 'cilium',
  'pod-security.kubernetes.io/enforce': 'baseline',
});
await makeNamespace(cluster, 'plain');
const proved = await eventually(async () => {
  const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
  assert.equal(initNames(stored).length, 1);
  return stored;
});

const { data } = await cluster.api.get<{ data: Record<string, string> }>(
  '/api/v1/namespaces/cni-gate/secrets/cni-gate-tls',
);
const secret = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
const authority = { certificate: secret('tls.crt'), key: secret('tls.key') };
const stolen = issueServing(authority, { names: ['cni-gate.cni-gate.svc'], days: 1, now: new Date() });
await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
let calls = 0;
const privileged = { name: 'x', image: 'example/x', securityContext: { privileged: true } };
/** The patch that the impostor makes to each pod. */
let change: Patch = [];
for (const { pod: replica } of replicas) {
  const impostor = createServer(
    { cert: stolen.certificate, key: stolen.key },
    answering(({ spec }) => {
      calls += 1;
      // if the API server calls the impostor again, the pod already has the patch
      return spec.containers.some(({ name }) => name === privileged.name) ? [] : change;
    }),
  );
  impostor.listen(8443, replica.status.podIP);
  await once(impostor, 'listening');
  after(() => {
    impostor.closeAllConnections();
    impostor.close();
  });
}

const [stored] = proved.spec.initContainers ?? [];
// the API server adds the volume mounts itself
const validator = { ...stored, volumeMounts: [] };
const { annotations = {}, labels = {} } = proved.metadata;

/** The patch that cni-gate would make, with changes to the init container, and then the impostor's own operations. */
const answer = (changed: object, ...more: Patch): Patch => [
  { op: 'add', path: '/metadata/annotations', value: annotations },
  { op: 'add', path: '/metadata/labels', value: labels },
  { op: 'add', path: '/spec/initContainers', value: [{ ...validator, ...changed }] },
  ...more,
];
const oneMore: Patch[number] = { op: 'add', path: '/spec/containers/-', value: privileged };

async function containersIn(where: string): Promise<(string | undefined)[]> {
  const { spec } = await tryPod<UserPod>(cluster, where, pod('web'));
  return spec.containers.map(({ name }) => name);
}

test('it can add any container to a pod of a namespace that opted in: no policy sees who added it', async () => {
  change = answer({}, oneMore);
  // the API server may send the first calls over connections to the old replicas
  await eventually(async () => assert.deepEqual(await containersIn('shop'), ['web', 'x']));
  assert.ok(calls > 0);
});

test('Pod Security of the namespace holds what it adds as if the user had', async () => {
  change = answer({}, oneMore);
  await assert.rejects(containersIn('guarded'), /violates PodSecurity "baseline.*privileged/s);
});

test('the policy refuses another image in the init container under our name', async () => {
  change = answer({ image: 'example/x' });
  await assert.rejects(containersIn('shop'), (error) => byPolicy(error));
});

test('it cannot take the proof away: the policy refuses the pod', async () => {
  change = [];
  await assert.rejects(containersIn('shop'), (error) => byPolicy(error));
});

test('pods of namespaces that did not opt in, of kube-system and on the host network never come to it', async () => {
  change = answer({}, oneMore);
  const before = calls;
  assert.deepEqual(await containersIn('plain'), ['web']);
  assert.deepEqual(await containersIn('kube-system'), ['web']);
  const { spec } = await tryPod<UserPod>(cluster, 'shop', pod('web', { hostNetwork: true }));
  assert.equal(spec.containers.length, 1);
  assert.equal(calls, before);
});
