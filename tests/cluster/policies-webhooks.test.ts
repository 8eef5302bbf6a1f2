import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { env } from '../../validator/shared/contract.ts';
import { mutate } from '../../webhook/admission/mutate.ts';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { readStatus, reasonText, statusText } from '../../webhook/core/facts/status-annotation.ts';
import { conditionsOf, leftByThePolicy } from '../../webhook/core/policies/conditions.ts';
import { profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { answerTo } from '../support/answers.ts';
import { policyOf } from '../support/configurations.ts';
import { eventually } from './harness/eventually.ts';
import { pod as podOf } from './harness/objects.ts';
import { configurationOf, webhookFor } from './harness/registration.ts';
import { startCluster } from './harness/start.ts';
import { meshProxy, startNeighbour } from './installed/neighbour.ts';
import { tryPod } from './installed/overlay.ts';
import { governed, installPolicy } from './installed/policies.ts';

/* The policy, our webhook behind it, and a mesh's injector after both. In an outage, no server answers the calls. */

const address = '10.254.2.1';
const where = 'shop';
const labels = { [profileLabel]: 'cilium.linkerd', neighbours: 'yes' };
const skipping = { 'config.linkerd.io/skip-outbound-ports': '25,1404' };

/** Profiles that exclude the users from 65534 downwards. In a pod that runs as root, the proof gets the next user. */
const letters = [...'abcdefghijklmnopq'];
const profiles = letters.map((name, at) => ({
  name,
  proof: {
    checks: [{ redirect: { listen: 20_000 + at, connect: ['192.0.2.9:9'], notAsUser: 65_534 - at } }],
  },
}));
const many = { [profileLabel]: letters.join('.') };

const policy = policyOf({ profiles });
const spaces = new Map<string, Record<string, string>>([
  [where, labels],
  ['many', many],
]);
const context = { policy, namespaces: new FixedNamespaces(spaces) };
const cluster = await startCluster();
await installPolicy(cluster, policy, 'together');
for (const [name, given] of spaces) await governed(cluster, name, 'together', { labels: given });

/** The webhook of an installation with policies, answered by this process, which counts the calls. */
let calls = 0;
const { certificate, key } = await cluster.authority.serving([address]);
const server = createServer({ cert: certificate, key }, (request, response) => {
  calls += 1;
  void json(request)
    .then((body) => mutate(body, context))
    .then(({ review }) => response.setHeader('content-type', 'application/json').end(JSON.stringify(review)));
});
await new Promise<void>((resolve) => server.listen(0, address, resolve));
after(() => server.close());
const { port } = server.address() as { port: number };
const webhook = webhookFor(['pods'], {
  name: 'pods.cni-gate.io',
  clientConfig: {
    url: `https://${address}:${port}/mutate`,
    caBundle: Buffer.from(cluster.authority.pair.certificate).toString('base64'),
  },
  failurePolicy: 'Ignore',
  timeoutSeconds: 2,
  reinvocationPolicy: 'IfNeeded',
  matchConditions: [...conditionsOf(policy), leftByThePolicy],
});
await cluster.apply(configurationOf('Mutating', 'cni-gate', [webhook]));

const create = (annotations: Record<string, string> = {}, spec: object = {}): Promise<Pod> =>
  tryPod<Pod>(cluster, where, podOf('web', spec, { annotations }));
await eventually(async () => assert.equal(readStatus(await create(skipping))?.left, undefined));

const checksOf = ({ spec }: Pod): string =>
  spec.initContainers
    ?.find(({ name }) => name === validatorContainer)
    ?.env?.find(({ name }) => name === env.checks)?.value ?? '';

/** Asserts that our container is first and that the webhook would change nothing. */
async function assertProved(stored: Pod, ...checks: string[]): Promise<void> {
  assert.equal(stored.spec.initContainers?.[0]?.name, validatorContainer);
  for (const check of checks) assert.match(checksOf(stored), new RegExp(`"${check}"`));
  assert.deepEqual(answerTo(stored, context, { namespace: where }).patch, []);
}

async function countingCalls<T>(act: () => Promise<T>): Promise<[T, number]> {
  const before = calls;
  const result = await act();
  return [result, calls - before];
}

const proxied = { containers: ['linkerd-proxy', 'web'].map((name) => ({ name, image: 'example/web' })) };

test('an ordinary pod causes no call', async () => {
  const [stored, count] = await countingCalls(() => create());
  await assertProved(stored, 'address');
  assert.equal(count, 0);
});

test("a pod that the policy leaves to the webhook gets the webhook's proof, even if the policy is called again", async () => {
  const [stored, count] = await countingCalls(() => create(skipping, proxied));
  await assertProved(stored, 'address', 'redirect');
  assert.equal(readStatus(stored)?.chosenBy, 'namespace');
  assert.ok(count >= 1, 'the webhook was not called');
});

test('if a later injector adds the proxy, the proof gets the redirect: by the policy, or by the webhook for a pod left to it', async () => {
  const neighbour = await startNeighbour(cluster, 'z-mesh', address, meshProxy);
  try {
    await eventually(async () => assert.match(checksOf(await create()), /redirect/));
    const [handled, none] = await countingCalls(() => create());
    await assertProved(handled, 'address', 'redirect');
    assert.equal(none, 0);
    const [left, some] = await countingCalls(() => create(skipping));
    await assertProved(left, 'address', 'redirect');
    assert.ok(some >= 2, `the webhook was called ${some} times`);
  } finally {
    await neighbour.close();
  }
});

/** What an injector may set with its proxy, and the policy evaluates without the webhook. */
const added: [key: string, value: string][] = [
  ['config.linkerd.io/skip-outbound-ports', 'smtp, 25,4000-5000'],
  ['config.linkerd.io/proxy-uid', '+0002103'],
];

/** Creates a pod to which an injector adds the proxy and an annotation. Asserts that our webhook is not called. */
async function createAnnotated(injector: string, key: string, value: string): Promise<Pod> {
  const path = `/metadata/annotations/${key.replaceAll('/', '~1')}`;
  const neighbour = await startNeighbour(cluster, injector, address, (pod) => {
    const patch = meshProxy(pod);
    return patch.length === 0 ? [] : [...patch, { op: 'add', path, value }];
  });
  try {
    await eventually(async () => assert.equal((await create()).metadata.annotations?.[key], value));
    const [stored, count] = await countingCalls(() => create());
    assert.equal(count, 0);
    return stored;
  } finally {
    await neighbour.close();
  }
}

for (const injector of ['a-mesh', 'z-mesh']) {
  for (const [key, value] of added)
    test(`injector "${injector}" also adds ${key}: proved without a call`, async () =>
      assertProved(await createAnnotated(injector, key, value), 'address', 'redirect'));

  test(`injector "${injector}" adds a reason to ask the server: not asked, so the mark stays`, async () => {
    const [[key, value] = ['', '']] = Object.entries(skipping);
    assert.equal(readStatus(await createAnnotated(injector, key, value))?.left, 'skipped-ports');
  });
}

test('if the service account mounts no token, our container mounts no volume of such a name', async () => {
  const automountServiceAccountToken = false;
  const metadata = { namespace: where, name: 'bare' };
  await cluster.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken });
  const volumes = [{ name: 'kube-api-access-own', emptyDir: {} }];
  const stored = await create({}, { serviceAccountName: metadata.name, volumes });
  await assertProved(stored, 'address');
  assert.equal(stored.spec.initContainers?.[0]?.volumeMounts, undefined);
});

/** Texts that a user may write into the annotation, so that the pod looks as if it had been reviewed. */
const forged = {
  'a status without checks': statusText({ profile: 'cilium.linkerd', chosenBy: 'namespace' }),
  'a status with checks': statusText(
    { profile: 'cilium.linkerd', chosenBy: 'namespace' },
    [{ name: 'cilium' }],
    ['address'],
  ),
  'the reason of an exemption': reasonText('network-daemonset'),
  'a mark': '{"version":"0.1.0","left":"witness"}',
};

for (const [what, status] of Object.entries(forged)) {
  test(`${what} that a user wrote is replaced`, async () => {
    const [stored, count] = await countingCalls(() => create({ [statusAnnotation]: status }));
    await assertProved(stored, 'address');
    assert.equal(count, 0);
    await assertProved(await create({ ...skipping, [statusAnnotation]: status }, proxied), 'redirect');
  });
}

test('if proxies use many user IDs, the proof gets the next free one', async () => {
  const [stored, count] = await countingCalls(() =>
    tryPod<Pod>(cluster, 'many', podOf('web', { securityContext: { runAsUser: 0 } })),
  );
  assert.equal(stored.spec.initContainers?.[0]?.securityContext?.runAsUser, 65_534 - letters.length);
  assert.equal(readStatus(stored)?.profiles?.length, letters.length);
  assert.equal(count, 0);
});

test("in an outage, a pod left to the webhook keeps the policy's mark, and loses a forged status", async () => {
  server.close();
  server.closeAllConnections();
  await assertProved(await create({}, proxied), 'redirect');
  for (const status of Object.values(forged)) {
    const stored = await create({ ...skipping, [statusAnnotation]: status });
    assert.equal(readStatus(stored)?.left, 'skipped-ports');
    assert.equal(stored.spec.initContainers, undefined);
  }
});

test('a pod that is too large to evaluate is left to the webhook', async () => {
  const containers = Array.from({ length: 4000 }, (_, at) => ({ name: `c${at}`, image: 'a' }));
  const stored = await create({ [statusAnnotation]: forged['a status without checks'] }, { containers });
  assert.equal(readStatus(stored)?.left, 'too-large');
});
