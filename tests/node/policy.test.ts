import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { kubernetesService } from '../cluster/harness/layout.ts';
import { pod } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { run } from '../support/run.ts';
import { configure } from './harness/configure.ts';
import { startElsewhere } from './harness/elsewhere.ts';
import { installedNode } from './harness/installed.ts';
import { isReady, type Pod, proofOf } from './harness/workload.ts';

/*
 * The check `policy` on a real node. In place of a policy agent, the test writes nftables rules into the network
 * namespace of the node. tests/netns/policy.test.ts covers the states of a policy.
 */

/** How many milliseconds after the start of the validator the agent writes the rules. */
const late = 3000;
const label = 'policies.example/default-deny';

const { cluster, replicas, node, image } = await installedNode();
const elsewhere = await startElsewhere();
after(() => elsewhere.close());
const policy = {
  blocked: ['$(KUBERNETES_SERVICE_HOST):443'],
  allowed: [`${new URL(elsewhere.url).host}:80`],
  timeout: '10s',
};
const guarded = {
  name: 'default-deny',
  when: { namespaceLabels: { [label]: 'true' } },
  proof: { checks: [{ policy }] },
};
await configure(cluster, replicas, { profiles: [guarded], repair: { mode: 'off' } });
const profile = { [profileLabel]: 'pod-network.default-deny' };
await makeNamespace(cluster, 'guarded', { ...profile, [label]: 'true' });
await makeNamespace(cluster, 'open', profile);

/** Drops the pods' connections except to the allowed target, before the DNAT for the API server's Service. */
const enforce = (): Promise<string> => {
  const rule = `iifname cni0 meta l4proto tcp ip daddr != ${new URL(elsewhere.url).host} drop`;
  return run(
    'nft',
    ['-f', '-'],
    `table inet agent {
    chain c {
      type filter hook prerouting priority mangle
      ${rule}
    }
  }
`,
  );
};

const pathOf = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/pods?fieldSelector=metadata.name%3D${name}`;

/** Creates a pod, and waits until it is as expected. */
async function create(namespace: string, name: string, until: (one: Pod) => unknown): Promise<Pod> {
  const spec = {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    nodeSelector: { 'kubernetes.io/hostname': node.name },
    containers: [{ name: 'web', image: image.name }],
  };
  await cluster.api.post(`/api/v1/namespaces/${namespace}/pods`, pod(name, spec));
  return await cluster.api.until<Pod>(pathOf(namespace, name), until);
}

const validatorOf = ({ status }: Pod) =>
  status.initContainerStatuses?.find(({ name }) => name === validatorContainer);
const checksOf = (one: Pod): { check: string; reason?: string }[] =>
  JSON.parse(proofOf(one)?.message || '{}').checks ?? [];
const logOf = (namespace: string, name: string): Promise<string> =>
  cluster.kubectl(['-n', namespace, 'logs', name, '-c', validatorContainer]);

/** When containerd started a container of the node, in milliseconds since 1970. */
const startOf = (containerID = ''): number =>
  node.starts().find(({ id }) => id === containerID.split('//')[1])?.at ?? Number.NaN;
/** For how many milliseconds the validator delayed the start of the container. */
const heldOf = (one: Pod): number =>
  startOf(one.status.containerStatuses?.[0]?.containerID) - startOf(validatorOf(one)?.containerID);

test('without a label of the namespace, a pod starts immediately', async (t) => {
  const started = await create('open', 'at-once', isReady);
  const checks = checksOf(started).map(({ check }) => check);
  assert.ok(checks.includes('address') && !checks.includes('policy'), checks.join());
  t.diagnostic(`held back for ${heldOf(started)} ms`);
});

test('a policy that is not enforced: the pod fails', async () => {
  const failed = await create('guarded', 'unguarded', proofOf);
  assert.equal(proofOf(failed)?.exitCode, 95);
  const reasons = checksOf(failed).map(({ reason }) => reason);
  assert.ok(reasons.includes('policy-not-in-force'), reasons.join());
  const log = await logOf('guarded', 'unguarded');
  assert.ok(log.includes(`a connection to the blocked ${kubernetesService}:443`), log);
  type Phased = Pod & { status: { phase: string } };
  const { status } = await cluster.api.until<Phased>(
    pathOf('guarded', 'unguarded'),
    (one) => one.status.phase === 'Failed',
  );
  assert.ok(status.containerStatuses?.every(({ containerID }) => !containerID));
});

test(`a policy that is enforced ${late / 1000} s late: the pod starts only then`, async (t) => {
  await create('guarded', 'late', (one) => validatorOf(one)?.state.running);
  await sleep(late);
  await enforce();
  const enforced = Date.now();
  const started = await cluster.api.until<Pod>(pathOf('guarded', 'late'), isReady);
  assert.equal(proofOf(started)?.exitCode, 0);
  const later = startOf(started.status.containerStatuses?.[0]?.containerID) - enforced;
  t.diagnostic(`held back for ${heldOf(started)} ms, and started ${later} ms after the rules`);
  // the check passes only after all targets have been as expected for a second
  assert.ok(later >= 900, `${later} ms`);
});
