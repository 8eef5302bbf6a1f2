import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { profileLabel } from '../../../webhook/lib/names.ts';
import { serverImage, validatorImage } from '../../../webhook/lib/version.ts';
import { beginLoad, type Load } from '../../cluster/certificates/load.ts';
import { eventually } from '../../cluster/harness/eventually.ts';
import { addNode } from '../../cluster/harness/nodes.ts';
import { pod } from '../../cluster/harness/objects.ts';
import { startCluster } from '../../cluster/harness/start.ts';
import { trusted } from '../../cluster/installed/installation.ts';
import { held, Kubelet } from '../../cluster/installed/kubelet.ts';
import { overlayPath } from '../../cluster/installed/overlay.ts';
import type { StoredPod } from '../../cluster/installed/pod.ts';
import { bringNetwork, makeNamespace, type UserPod } from '../../cluster/installed/working.ts';
import { lastRelease, unpackRelease } from './last-release.ts';

/*
 * From the last release to this checkout and back by kubectl: its own manifests and its own server, in a real control
 * plane, while pods are created. Every mixture of both is held for a while.
 */

/** Pods a second. */
const rate = 50;

const checkout = fileURLToPath(new URL('../../../', import.meta.url));
const tag = lastRelease();
assert.ok(tag !== undefined);
const images = {
  previous: [serverImage, validatorImage].map((image) => image.replace(/:.*$/, ':previous')),
  current: [serverImage, validatorImage],
};

const previous = await unpackRelease(tag);
const cluster = await startCluster();
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await bringNetwork(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
await cluster.kubectl(['-n', 'kube-system', 'rollout', 'status', 'daemonset/cilium', '--timeout=60s']);
const kubelet = new Kubelet(cluster, (stored: StoredPod) =>
  stored.spec.containers[0]?.image === images.previous[0] ? previous : undefined,
);
after(() => kubelet.stop());

interface Installed {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    template: {
      metadata: { annotations?: Record<string, string> };
      spec: Record<'initContainers' | 'containers', { image: string; env?: Variable[] }[] | undefined>;
    };
  };
}

interface Variable {
  name: string;
  value?: string;
}

/** What the overlay `strict` of a checkout installs, with these images, in two parts. */
async function render(
  from: string,
  [server = '', validator = '']: string[],
): Promise<{ deployment: Installed; others: Installed[] }> {
  const text = await cluster.kubectl(['kustomize', overlayPath('strict', from)]);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Installed);
  for (const { kind, metadata, data, spec } of objects) {
    if (data !== undefined && metadata.name === 'cni-gate-policy') data.image = validator;
    if (kind !== 'Deployment' || spec === undefined) continue;
    spec.template.metadata.annotations = { ...spec.template.metadata.annotations, ...held };
    for (const container of spec.template.spec.initContainers ?? []) container.image = validator;
    for (const container of spec.template.spec.containers ?? []) {
      container.image = server;
      for (const variable of container.env ?? [])
        if (variable.name === 'CNI_GATE_IMAGE') variable.value = validator;
    }
  }
  const [deployment, ...more] = objects.filter(({ kind }) => kind === 'Deployment');
  assert.ok(deployment !== undefined && more.length === 0);
  return { deployment, others: objects.filter((object) => object !== deployment) };
}

const apply = (objects: Installed[]): Promise<string> =>
  cluster.kubectl(['apply', '--validate=strict', '-f', '-'], { input: objects });

async function rollOut(deployment: Installed): Promise<void> {
  await apply([deployment]);
  const wait = ['-n', 'cni-gate', 'rollout', 'status', 'deployment/cni-gate', '--timeout=120s'];
  await cluster.kubectl(wait).catch((error) => {
    throw new AggregateError([error, ...kubelet.failures], 'the replicas do not become ready');
  });
}

let pods = 0;

/** Makes a pod that is bound and runs, and asserts which image it was injected with. */
async function assertInjected([, validator]: string[]): Promise<void> {
  pods += 1;
  const name = `pod-${pods}`;
  await cluster.api.post('/api/v1/namespaces/shop/pods', pod(name));
  const { spec } = await cluster.api.until<UserPod>(
    `/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3D${name}`,
    ({ status }) => status.phase === 'Running',
  );
  assert.equal(spec.initContainers?.[0]?.image, validator);
}

/** Goes from one release to the other under load, all but the replicas first. */
async function move(load: Load, from: keyof typeof images, to: keyof typeof images): Promise<void> {
  const { deployment, others } = await render(to === 'current' ? checkout : previous, images[to]);
  await load.more(rate);
  await apply(others);
  // as kubelets do it some time after a ConfigMap changed
  await kubelet.refresh();
  await load.more(2 * rate);
  await assertInjected(images[from]);
  await rollOut(deployment);
  await load.more(rate);
  // a replica that ends answers on kept connections while it drains
  await eventually(() => assertInjected(images[to]));
}

test('the previous release is installed', async () => {
  const { deployment, others } = await render(previous, images.previous);
  await apply(others);
  await rollOut(deployment);
  await trusted(cluster);
  await assertInjected(images.previous);
  assert.deepEqual(kubelet.failures, []);
});

for (const [from, to] of [
  ['previous', 'current'],
  ['current', 'previous'],
] as const) {
  test(`from the ${from} release to the ${to} one: none of 50 pods a second is refused`, async (t) => {
    const load = beginLoad(t, cluster, rate);
    await move(load, from, to);
    const { created, failures, seconds } = await load.end();
    t.diagnostic(`${created} pods in ${seconds.toFixed(1)} s`);
    assert.deepEqual(failures, []);
    assert.deepEqual(kubelet.failures, []);
  });
}
