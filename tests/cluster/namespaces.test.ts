import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { accessWith } from './harness/access.ts';
import type { ApiError } from './harness/api.ts';
import { eventually } from './harness/eventually.ts';
import { sumIn } from './harness/metrics.ts';
import { namespace as namespaceObject } from './harness/objects.ts';
import { registration } from './harness/registration.ts';
import { startServer } from './harness/server.ts';
import { serviceAt } from './harness/service.ts';
import { startCluster } from './harness/start.ts';
import { SwallowingProxy } from './harness/swallowing-proxy.ts';

const own = { namespace: 'cni-gate', name: 'cni-gate' };
/** Within this many seconds after an outage, cni-gate has to know the namespaces' current labels. */
const promised = 30;

interface Pod {
  metadata: { annotations?: Record<string, string> };
  spec: { initContainers?: { name: string; securityContext?: { runAsGroup?: number } }[] };
}

const cluster = await startCluster();
const { api, components } = cluster;
const proxy = await SwallowingProxy.to(cluster.server.url);
after(() => proxy.close());

await api.post('/api/v1/namespaces', namespace(own.namespace));
await api.post(`/api/v1/namespaces/${own.namespace}/serviceaccounts`, { metadata: { name: own.name } });
const { credentials } = await cluster.serviceAccount(own.namespace, own.name);
const through = { url: proxy.url, authority: cluster.server.authority };
const { kubeconfig } = accessWith(through, join(cluster.folder, 'gate.kubeconfig'), credentials);
const authorityFile = join(cluster.folder, 'webhook-authority.pem');
// cni-gate starts before its account has any right, and reaches the API server through the proxy
const gate = await startServer({
  host: '10.254.2.1',
  args: ['--kubeconfig', kubeconfig, '--own-namespace', own.namespace, '--tls-ca-out', authorityFile],
});
after(() => gate.end());

const ops = async (path: string): Promise<{ status: number; body: string }> => {
  const answer = await fetch(`http://${gate.host}:${gate.opsPort}${path}`);
  return { status: answer.status, body: await answer.text() };
};

/** How many watches of namespaces ended for the given reason. */
const ends = async (reason: string): Promise<number> =>
  sumIn((await ops('/metrics')).body, 'cni_gate_cluster_watch_ends_total', {
    resource: 'namespaces',
    reason,
  });

function namespace(name: string, profile?: string): object {
  return namespaceObject(name, profile === undefined ? {} : { [profileLabel]: profile });
}

/**
 * Creates a namespace and its service account. Without the account, pods are refused until a controller creates it.
 */
async function makeNamespace(name: string, profile: string): Promise<void> {
  await api.post('/api/v1/namespaces', namespace(name, profile));
  const account = { metadata: { name: 'default' } };
  await api.post(`/api/v1/namespaces/${name}/serviceaccounts`, account).catch((error: ApiError) => {
    if (error.status !== 409) throw error;
  });
}

async function settle(name: string, profile: string): Promise<void> {
  await label(name, profile);
  await injectedBy(name, profile);
}

const label = (name: string, profile: string): Promise<unknown> =>
  api.patch(`/api/v1/namespaces/${name}`, { metadata: { labels: { [profileLabel]: profile } } });

async function makePod(where: string, dryRun = false): Promise<Pod> {
  const query = dryRun ? '?dryRun=All' : '';
  return api.post<Pod>(`/api/v1/namespaces/${where}/pods${query}`, {
    metadata: { generateName: 'web-' },
    spec: { automountServiceAccountToken: false, containers: [{ name: 'web', image: 'example/web' }] },
  });
}

async function profileIn(where: string): Promise<string> {
  const { metadata, spec } = await makePod(where, true);
  assert.equal(spec.initContainers?.[0]?.name, validatorContainer);
  return JSON.parse(metadata.annotations?.[statusAnnotation] ?? '{}').profile;
}

const injectedBy = (where: string, profile: string): Promise<void> =>
  eventually(async () => assert.equal(await profileIn(where), profile), promised);

test('without rights, cni-gate is not ready and names the missing right; with them, it is ready', async () => {
  await eventually(async () => {
    const { status, body } = await ops('/readyz');
    assert.equal(status, 503);
    assert.match(body, /RBAC lacks verb "list" on resource "namespaces" of API group ""/);
  });
  await cluster.kubectl(['create', 'clusterrole', 'gate', '--verb=get,list,watch', '--resource=namespaces']);
  await cluster.kubectl([
    'create',
    'clusterrolebinding',
    'gate',
    '--clusterrole=gate',
    `--serviceaccount=${own.namespace}:${own.name}`,
  ]);
  await eventually(async () => assert.equal((await ops('/readyz')).status, 200), promised);
  await cluster.apply(
    ...serviceAt(own.namespace, own.name, [gate]),
    registration(own, readFileSync(authorityFile)),
    namespace('shop', 'cilium'),
    namespace('plain'),
  );
  await injectedBy('shop', 'cilium');
});

test('a pod is injected even if it is created immediately after its namespace', async () => {
  for (let round = 0; round < 20; round += 1) {
    const name = `fast-${round}`;
    await makeNamespace(name, 'cilium');
    const { spec } = await makePod(name);
    assert.equal(spec.initContainers?.[0]?.name, validatorContainer, name);
  }
});

test('the watch follows annotations that name the IDs that a mesh exempts', async () => {
  await makeNamespace('meshed', 'linkerd');
  const groupSet = async (): Promise<unknown> => {
    const { spec } = await api.post<Pod>('/api/v1/namespaces/meshed/pods?dryRun=All', {
      metadata: { generateName: 'web-' },
      spec: {
        automountServiceAccountToken: false,
        containers: ['web', 'linkerd-proxy'].map((name) => ({ name, image: `example/${name}` })),
      },
    });
    return spec.initContainers?.[0]?.securityContext?.runAsGroup;
  };
  assert.equal(await groupSet(), undefined);
  const annotate = (value: string | null): Promise<unknown> =>
    api.patch('/api/v1/namespaces/meshed', {
      metadata: { annotations: { 'config.linkerd.io/proxy-gid': value, note: 'of no interest' } },
    });
  // 64532 is the group of our own image, so the init container has to run with another group
  await annotate('64532');
  await eventually(async () => assert.equal(await groupSet(), 65_534), promised);
  await annotate(null);
  await eventually(async () => assert.equal(await groupSet(), undefined), promised);
});

test('a connection that loses all bytes: cni-gate detects it, and follows the labels again afterwards', async () => {
  await settle('shop', 'aws-vpc-cni');
  const silent = await ends('silent');
  proxy.swallow();
  try {
    await label('shop', 'cilium');
    // for a namespace that it knows, cni-gate uses the last known labels
    assert.equal(await profileIn('shop'), 'aws-vpc-cni');
    // an unknown namespace cannot be looked up now, so its pods are refused instead of admitted without a proof
    await makeNamespace('in-the-hole', 'cilium');
    await assert.rejects(makePod('in-the-hole'), {
      message: /cannot get namespaces in-the-hole: .*CNI_GATE_CLUSTER_UNREACHABLE/,
    });
  } finally {
    proxy.recover();
  }
  assert.equal(await profileIn('in-the-hole'), 'cilium', 'no new connection is used');
  await injectedBy('shop', 'cilium');
  assert.ok((await ends('silent')) > silent, 'no watch ended because of silence');
});

test('after etcd is restored from a backup, the labels of the backup apply', async () => {
  const data = join(cluster.folder, 'etcd');
  const copy = join(cluster.folder, 'backup');
  await settle('shop', 'cilium');
  await withoutDatabase(() => cpSync(data, copy, { recursive: true }));
  await injectedBy('shop', 'cilium');
  await settle('shop', 'aws-vpc-cni');
  await withoutDatabase(() => {
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
  });
  await injectedBy('shop', 'cilium');
});

async function withoutDatabase(act: () => void): Promise<void> {
  await components['kube-apiserver'].stop();
  await components.etcd.stop();
  act();
  await components.etcd.start();
  await components['kube-apiserver'].start();
}

test('cni-gate survives a rejected token, and uses the new one', async () => {
  const path = `/api/v1/namespaces/${own.namespace}/serviceaccounts`;
  await api.delete(`${path}/${own.name}`);
  // a token belongs to the UID of a service account, not to its name; the API server caches accepted tokens for 10 s
  await eventually(async () => {
    assert.ok(gate.lines.some(({ msg }) => /CNI_GATE_CLUSTER_UNAUTHORIZED|Unauthorized/.test(String(msg))));
  }, 60);
  assert.equal((await ops('/readyz')).status, 200);
  await api.post(path, { metadata: { name: own.name } });
  const { credentials: fresh } = await cluster.serviceAccount(own.namespace, own.name);
  writeFileSync(kubeconfig, readFileSync(accessWith(through, `${kubeconfig}.new`, fresh).kubeconfig));
  await settle('shop', 'aws-vpc-cni');
});
