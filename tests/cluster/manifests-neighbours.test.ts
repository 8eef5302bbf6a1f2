import assert from 'node:assert/strict';
import { test } from 'node:test';
import { env } from '../../validator/shared/contract.ts';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { answerTo } from '../support/answers.ts';
import { policyOf } from '../support/configurations.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { firstInit, meshProxy, type ReviewedPod, startNeighbour } from './installed/neighbour.ts';
import { byPolicy, tryPod } from './installed/overlay.ts';
import { calls, initNames, makeNamespace, type UserPod } from './installed/working.ts';

/* The API server calls webhooks in the order of their configurations' names: `a…` before cni-gate's, `z…` after. */

const address = '10.254.2.1';
const profile = 'cilium.linkerd';

const { cluster } = await installed('strict');
await makeNamespace(cluster, 'shared', { [profileLabel]: profile, neighbours: 'yes' });
await makeNamespace(cluster, 'meshed', { [profileLabel]: 'linkerd', neighbours: 'yes' });

async function besides(
  neighbours: Record<string, (pod: ReviewedPod) => ReturnType<typeof firstInit>>,
  where: string,
) {
  const running = await Promise.all(
    Object.entries(neighbours).map(([name, change]) => startNeighbour(cluster, name, address, change)),
  );
  try {
    const added = Object.values(neighbours).includes(meshProxy) ? 'linkerd-proxy' : 'web';
    // the API server begins to call a webhook a moment after its configuration is stored
    await eventually(async () => {
      const { spec } = await tryPod<UserPod>(cluster, where, pod('probe'));
      assert.ok(spec.containers.some(({ name }) => name === added));
      if (Object.values(neighbours).includes(firstInit))
        assert.ok(initNamesOf(spec).includes('neighbour-init'));
    });
    return await tryPod<UserPod>(cluster, where, pod('web'));
  } finally {
    for (const neighbour of running) await neighbour.close();
  }
}

const initNamesOf = (spec: UserPod['spec']): string[] => (spec.initContainers ?? []).map(({ name }) => name);

/** The names of the checks in the init container's environment. */
function checksOf({ spec }: UserPod): string[] {
  const text = spec.initContainers?.[0]?.env?.find(({ name }) => name === env.checks)?.value ?? '[]';
  const checks: Record<string, unknown>[] = JSON.parse(text);
  return checks.flatMap((check) => Object.keys(check).filter((key) => key !== 'profile'));
}

/** The patch with which cni-gate would still change the stored pod. */
async function changesLeft(stored: UserPod, label: string): Promise<unknown[]> {
  const labels = { 'kubernetes.io/metadata.name': 'shop', [profileLabel]: label };
  const context = { policy: policyOf(), namespaces: new FixedNamespaces(new Map([['shop', labels]])) };
  const { patch } = answerTo(stored as unknown as Pod, context);
  return patch;
}

const names: [string, string][] = [
  ['a-init', 'z-mesh'],
  ['z-init', 'a-mesh'],
  ['a-init', 'a-mesh'],
  ['z-init', 'z-mesh'],
  ['z-mesh-init', 'z-mesh'],
];

for (const [init, mesh] of names) {
  test(`beside ${init} and ${mesh}, ours is first, with the checks of both profiles`, async () => {
    const stored = await besides({ [init]: firstInit, [mesh]: meshProxy }, 'shared');
    assert.deepEqual(initNames(stored), [validatorContainer, 'neighbour-init']);
    assert.deepEqual(checksOf(stored), ['address', 'gateway', 'roundTrip', 'redirect']);
    assert.deepEqual(await changesLeft(stored, profile), []);
  });
}

for (const mesh of ['a-mesh', 'z-mesh']) {
  test(`if no profile applies before ${mesh} adds its proxy, the proof is injected afterwards`, async () => {
    const stored = await besides({ [mesh]: meshProxy }, 'meshed');
    assert.deepEqual(initNames(stored), [validatorContainer]);
    assert.deepEqual(checksOf(stored), ['redirect']);
    assert.deepEqual(await changesLeft(stored, 'linkerd'), []);
  });
}

async function callsFor(where: string, pods: object[]): Promise<number> {
  const before = await calls(cluster);
  for (const object of pods) {
    const stored = await cluster.api.post<UserPod>(`/api/v1/namespaces/${where}/pods`, object);
    assert.equal(initNames(stored)[0], validatorContainer);
  }
  return (await calls(cluster)) - before;
}

test('without neighbours, cni-gate is called once for each pod', async () => {
  await makeNamespace(cluster, 'alone', { [profileLabel]: 'cilium.multus' });
  const init = { initContainers: [{ name: 'migrate', image: 'example/web' }] };
  const networks = { annotations: { 'k8s.v1.cni.cncf.io/networks': 'storage' } };
  const pods = [
    pod('plain'),
    pod('with-init-container', init),
    pod('with-networks', init, networks),
    pod('without-token', { automountServiceAccountToken: false }),
  ];
  assert.equal(await callsFor('alone', pods), pods.length);
});

test('if another webhook always puts its own init container first, the policy refuses the pod', async () => {
  const insist = ({ spec }: ReviewedPod): ReturnType<typeof firstInit> => {
    const { initContainers: list } = spec;
    if (list === undefined || list[0]?.name === 'neighbour-init') return [];
    const rest = list.filter(({ name }) => name !== 'neighbour-init');
    const value = [{ name: 'neighbour-init', image: 'example/init' }, ...rest];
    return [{ op: 'replace', path: '/spec/initContainers', value }];
  };
  const neighbour = await startNeighbour(cluster, 'z-insists', address, insist);
  try {
    await eventually(() =>
      assert.rejects(
        tryPod(cluster, 'shared', pod('web')),
        (error: unknown) => byPolicy(error) && /first init container is "neighbour-init"/.test(error.message),
      ),
    );
  } finally {
    await neighbour.close();
  }
});
