import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { validatorImage } from '../../webhook/lib/version.ts';
import { pod } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { configure } from './harness/configure.ts';
import { meshedNode } from './harness/installed.ts';
import { Times } from './harness/times.ts';
import { latestProof, type Pod } from './harness/workload.ts';

/**
 * Measures what `proof.replaces` saves. A program that ends immediately stands in for linkerd's validator, which cannot
 * be built here. This changes little, because the kubelet and the runtime take most of an init container's time.
 */

const rounds = 10;
const meshValidator = 'linkerd-network-validator';

type FullPod = Pod & {
  spec: { initContainers: { name: string }[] };
  status: { phase: string };
};

const { cluster, replicas, node, image } = await meshedNode();
const { api } = cluster;
const linkerd = builtInProfiles().find(({ name }) => name === 'linkerd');
assert.ok(linkerd);
const alone = { ...linkerd, name: 'alone', proof: { ...linkerd.proof, replaces: [meshValidator] } };
await configure(cluster, replicas, { profiles: [alone], repair: { mode: 'off' } });

/** The init containers of a pod of each namespace. */
const expected = {
  mesh: [meshValidator],
  both: [validatorContainer, meshValidator],
  alone: [validatorContainer],
};
await makeNamespace(cluster, 'mesh', {});
await makeNamespace(cluster, 'both', { [profileLabel]: linkerd.name });
await makeNamespace(cluster, 'alone', { [profileLabel]: alone.name });

const meshed = {
  nodeSelector: { 'kubernetes.io/hostname': node.name },
  terminationGracePeriodSeconds: 1,
  initContainers: [
    { name: meshValidator, image: validatorImage, imagePullPolicy: 'Never', args: ['validate', '--help'] },
  ],
  containers: [{ name: 'linkerd-proxy', image: image.name, securityContext: { runAsUser: 2102 } }],
};

const until = (namespace: string, accepts: (one: FullPod, type: string) => boolean): Promise<FullPod> =>
  api.until<FullPod>(`/api/v1/namespaces/${namespace}/pods`, accepts, 60);

test('a pod with one validator starts sooner than a pod with two', async (t) => {
  const times = new Times();
  for (let round = 0; round < rounds; round++) {
    for (const [namespace, names] of Object.entries(expected)) {
      const name = `round-${round}`;
      const stored = await api.post<FullPod>(`/api/v1/namespaces/${namespace}/pods`, pod(name, meshed));
      assert.deepEqual(
        stored.spec.initContainers.map((container) => container.name),
        names,
      );
      const isRunning = ({ metadata, status }: FullPod): boolean =>
        metadata.name === name && status.phase === 'Running';
      await times.take(namespace, until(namespace, isRunning));
      // waits for the end of this pod, which would otherwise slow down the start of the next one
      const gone = until(namespace, (one, type) => one.metadata.name === name && type === 'DELETED');
      await api.delete(`/api/v1/namespaces/${namespace}/pods/${name}`);
      await gone;
    }
  }
  for (const line of times.lines()) t.diagnostic(line);
  assert.ok(times.median('alone') < times.median('both'));
});

test('without rules, the pod with our validator alone does not start', async () => {
  const annotations = { 'example.com/no-rules': '' };
  await api.post('/api/v1/namespaces/alone/pods', pod('lost', meshed, { annotations }));
  const lost = await until('alone', (one) => one.metadata.name === 'lost' && latestProof(one) !== undefined);
  assert.equal(latestProof(lost)?.exitCode, 95);
  assert.ok(lost.status.containerStatuses?.every(({ containerID }) => !containerID));
});
