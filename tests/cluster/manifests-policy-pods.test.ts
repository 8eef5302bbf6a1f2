import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { profileLabel, statusAnnotation } from '../../webhook/lib/names.ts';
import { beginningOf, contextOf, type GoldenCase, readCase } from '../golden/case.ts';
import { answerTo, patched } from '../support/answers.ts';
import {
  changed,
  injected,
  refused,
  refusedWithRechecks,
  refusedWithWitness,
  taken,
} from '../support/changed-injections.ts';
import { policyOf } from '../support/configurations.ts';
import { ApiError } from './harness/api.ts';
import { namespace } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { acceptImages, apply, byPolicy, policyAlone, tryPod } from './installed/overlay.ts';
import { makeNamespace } from './installed/working.ts';

/* For every golden case, the policy allows and refuses the same pods as cni-gate. */

const folder = new URL('../golden/cases/', import.meta.url);
const cases = readdirSync(folder)
  .sort()
  .map((file) => ({ name: basename(file, '.yaml'), golden: readCase(new URL(file, folder)).golden }));

/** The images of networks' own validators, which the policy has to name. */
const validators = cases
  .flatMap(({ golden }) => [...contextOf(golden).policy.profiles.values()])
  .flatMap(({ proof }) => proof?.container?.image ?? []);

/** The DaemonSets of the built-in profiles, which the policy names. */
const builtIn = policyOf().daemonSets;

const cluster = await startCluster();
await apply(cluster, 'strict');
await acceptImages(cluster, ...validators, 'example/other', 'mirror.example:5000/check:1');
await policyAlone(cluster);

const spaces = new Map<string, string>();
/** The cases whose pods the API server rejects before it evaluates policies. */
const noPods: string[] = [];

for (const { name, golden } of cases) {
  test(name, async () => {
    const { pod, request } = beginningOf(golden);
    const { decision, patch } = answerTo(pod, contextOf(golden), request);
    const { outcome, reason } = decision;
    // opting out is forbidden only by the component no-opt-out, which is not installed here
    if (
      !contextOf(golden).policy.proof.allowOptOut ||
      reason === 'operation' ||
      outcome === 'refused' ||
      outcome === 'warned'
    )
      return;
    const where = await spaceFor(golden);
    const [asItCame, asItLeft] = [await verdict(where, pod), await verdict(where, patched(pod, patch))];
    if (asItCame.said === 'no pod') {
      noPods.push(name);
      return;
    }
    const expected = isOfAnotherImage(golden)
      ? /has the image .* not one of ghcr.io\/cni-gate\/cni-gate/
      : /^stored$/;
    assert.match(asItLeft.said, expected);
    if (asItLeft.stored !== undefined) {
      const again = answerTo(asItLeft.stored, contextOf(golden), request);
      assert.deepEqual(again.patch, [], 'the stored pod is patched again');
    }
    // the policy knows only the built-in profiles' DaemonSets; other DaemonSets' pods need cni-gate's annotation
    const leftAlone =
      reason === 'network-daemonset'
        ? isOfBuiltIn(where, pod)
        : outcome === 'skipped' && reason !== 'no-profile-applies';
    // only cni-gate may write the status annotation, so the policy refuses it even in a pod that opts out
    const isForged = reason === 'opted-out' && pod.metadata.annotations?.[statusAnnotation] !== undefined;
    if (leftAlone && !isForged) assert.equal(asItCame.said, 'stored');
    else if (outcome === 'injected' || outcome === 'skipped') assert.match(asItCame.said, /^policy/);
  });
}

test('the API server accepts all other cases as pods', () => {
  assert.deepEqual(noPods, [
    'ephemeral-in-an-exported-pod',
    'keys-with-tilde-and-slash',
    'no-containers',
    'resources-invalid-quantity',
  ]);
});

function isOfAnotherImage(golden: GoldenCase): boolean {
  return !contextOf(golden).policy.proof.image.startsWith('ghcr.io/cni-gate/cni-gate');
}

function isOfBuiltIn(where: string, { metadata }: Pod): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ controller, kind, name }) =>
      controller === true && kind === 'DaemonSet' && builtIn.has(`${where}/${name}`),
  );
}

/** A namespace for a case. It has the name from the case if that is free, because some results depend on it. */
async function spaceFor({ namespace: { name = 'shop', profile, labels } = {} }: GoldenCase): Promise<string> {
  const all = { ...labels, ...(profile !== undefined && { [profileLabel]: profile }) };
  const key = JSON.stringify([name, all]);
  const known = spaces.get(key);
  if (known !== undefined) return known;
  const free = [...spaces.values()].includes(name) ? `${name}-${spaces.size}` : name;
  spaces.set(key, free);
  await cluster.apply(namespace(free, all));
  await cluster.api.until(`/api/v1/namespaces/${free}/serviceaccounts`, () => true);
  return free;
}

/** `said` is `stored`, the policy's message, or `no pod` if the API server rejects the pod itself. */
async function verdict(where: string, { metadata, spec }: Pod): Promise<{ said: string; stored?: Pod }> {
  const { namespace: _, ...own } = metadata;
  // the service account does not exist here, and the policy does not read it
  const { serviceAccountName, serviceAccount, ...rest } = spec as Pod['spec'] & Record<string, unknown>;
  try {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: rest };
    return { said: 'stored', stored: await tryPod<Pod>(cluster, where, object) };
  } catch (error) {
    if (byPolicy(error)) return { said: `policy: ${error.message}` };
    if (error instanceof ApiError) return { said: 'no pod' };
    throw error;
  }
}

/* Changes that another webhook could make to a pod after cni-gate. */

const tampered = 'tampered';
await makeNamespace(cluster, tampered, { [profileLabel]: 'cilium' });
const plain = injected('cilium.multus');
/** A pod of a profile whose witness is the kubelet. */
const witnessed = injected('cilium.seen');
/** Pods whose checks are repeated. */
const watched = injected('cilium.watched');
const logged = injected('cilium.logged');

for (const [from, cases] of [
  [plain, refused] as const,
  [witnessed, refusedWithWitness] as const,
  [watched, refusedWithRechecks] as const,
]) {
  for (const [what, change, message] of cases) {
    test(`refused: ${what}`, async () => {
      await assert.rejects(
        tryPod(cluster, tampered, changed(from, change)),
        (error: unknown) => byPolicy(error) && message.test(error.message),
      );
    });
  }
}

test('accepted: the kubelet as witness', () => tryPod(cluster, tampered, witnessed));

test('accepted: repeated checks', async () => {
  for (const interval of ['2m', '9999ms', '1h']) {
    const profile = { name: 'often', proof: { witness: 'kubelet', continuous: { interval } } };
    await tryPod(cluster, tampered, injected('cilium.often', {}, [profile]));
  }
  await tryPod(cluster, tampered, logged);
});

test('refused: a readiness probe with rechecks that only log', async () => {
  const readinessProbe = watched.spec.initContainers?.[0]?.readinessProbe;
  const pod = changed(logged, (_, it) => Object.assign(it, { readinessProbe }));
  await assert.rejects(tryPod(cluster, tampered, pod), /has another readiness probe/);
});

test('accepted: proof.mode warn, as in the annotation', async () => {
  await tryPod(cluster, tampered, injected('cilium.multus', { mode: 'warn' }));
});

for (const [what, change] of taken)
  test(`accepted: ${what}`, () => tryPod(cluster, tampered, changed(plain, change)));

test('the policy ignores an update of a pod', async () => {
  await cluster.api.post('/api/v1/namespaces/tampered/pods', plain);
  await cluster.api.patch('/api/v1/namespaces/tampered/pods/web', {
    metadata: { annotations: { [statusAnnotation]: null } },
  });
});
