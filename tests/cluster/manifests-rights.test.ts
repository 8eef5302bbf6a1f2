import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import { reviewOf } from '../support/reviews.ts';
import { eventually } from './harness/eventually.ts';
import { useTheGate } from './installed/gate.ts';
import { installed } from './installed/installation.ts';
import { useRepair } from './installed/repair.ts';
import { makeNamespace } from './installed/working.ts';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

interface Audited {
  user: { username: string };
  verb: string;
  objectRef?: { apiGroup?: string; resource: string; subresource?: string };
  responseStatus: { code: number };
}

const account = 'system:serviceaccount:cni-gate:cni-gate';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const home = 'namespaces/cni-gate/roles';

const { cluster, replicas } = await installed('strict', { audit: 'Metadata' });

test('every right of the manifests is used, and no more is asked for', async () => {
  await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
  await askAboutUnknownNamespace();
  await emptySecret();
  await useRepair(cluster);
  await useTheGate(cluster);
  // what is asked last is recorded last
  await eventually(async () => assert.deepEqual(used(), await granted()));
  const failed = own().filter(({ responseStatus: { code } }) => code === 401 || code === 403);
  assert.deepEqual(failed, []);
});

async function granted(): Promise<string[]> {
  const roles = await Promise.all(
    ['clusterroles/cni-gate', ...['cni-gate', 'cni-gate-leader'].map((name) => `${home}/${name}`)].map(
      (path) => cluster.api.get<{ rules: Rule[] }>(`${rbac}/${path}`),
    ),
  );
  const rights = roles
    .flatMap(({ rules }) => rules)
    .flatMap(({ apiGroups, resources, verbs }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`)),
      ),
    );
  return [...new Set(rights)].sort();
}

const own = (): Audited[] => cluster.audited<Audited>().filter(({ user }) => user.username === account);

const resourceOf = ({ resource, subresource }: { resource: string; subresource?: string }): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;

function used(): string[] {
  const rights = own().flatMap(({ verb, objectRef }) =>
    objectRef ? [`${verb} ${objectRef.apiGroup ?? ''}/${resourceOf(objectRef)}`] : [],
  );
  return [...new Set(rights)].sort();
}

/** A namespace of which the watch has not told costs one GET. Here one that is not there: the API server asks never. */
async function askAboutUnknownNamespace(): Promise<void> {
  const review = reviewOf(
    { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    { namespace: 'nowhere' },
  );
  const agent = new Agent({ rejectUnauthorized: false });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request(`https://${replicas[0]?.pod.status.podIP}:8443/mutate`, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json' },
  })
    .on('response', (answer) => answer.resume().on('end', resolve))
    .on('error', reject)
    .end(JSON.stringify(review));
  await promise;
  agent.destroy();
}

/** An update repairs it. */
async function emptySecret(): Promise<void> {
  const path = '/api/v1/namespaces/cni-gate/secrets';
  await cluster.api.patch(`${path}/cni-gate-tls`, { data: { 'tls.crt': '', 'tls.key': '' } });
  await cluster.api.until<{ data: Record<string, string> }>(
    `${path}?fieldSelector=metadata.name%3Dcni-gate-tls`,
    ({ data }) => data['tls.crt'] !== '',
  );
}
