import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import type { InstallationFacts } from '../../../../webhook/report/facts/installation.ts';
import { readInstallation } from '../../../../webhook/report/facts/installation.ts';
import { foundIn } from '../../../../webhook/report/facts/observation.ts';
import { readRegistered } from '../../../../webhook/report/facts/webhooks.ts';
import { json, startFakeApi, status } from '../../../support/fake-api-server.ts';
import { allRegistered } from '../objects.ts';

/* How objects of the API become facts. */

/** Reads an installation from an API server with these objects, by the ends of their paths. */
async function read(t: TestContext, objects: Record<string, object>): Promise<InstallationFacts> {
  const api = await startFakeApi(t, ({ path }, response) => {
    const [, object] = Object.entries(objects).find(([end]) => path.endsWith(end)) ?? [];
    if (object === undefined) json(response, 404, status(404, 'NotFound', 'not found'));
    else json(response, 200, object);
  });
  const service = { namespace: 'cni-gate', name: 'cni-gate', port: 443 };
  const mutating = (allRegistered.mutating ?? []).map((one) => ({ ...one, service }));
  return readInstallation(api.client, { mutating, validating: [] }, 'cni-gate');
}

suite('an endpoint counts', () => {
  const https = { name: 'https', port: 443, protocol: 'TCP', targetPort: 'https' };
  const slicePort = { name: 'https', port: 8443, protocol: 'TCP' };
  /** Two endpoints, one of them ready, in a slice with these ports. */
  const slice = (ports: object[] | null, at = 0): object => ({
    metadata: { uid: `u${at}`, name: `cni-gate-${at}`, resourceVersion: '1' },
    ports,
    endpoints: [{ conditions: { ready: true } }, { conditions: { ready: false } }],
  });
  const cases: Record<string, [ports: object[], slices: object[], withPort: number, ready: number]> = {
    'with the port of the Service': [[https], [slice([slicePort])], 2, 1],
    'in each slice, as of a Service with IPv4 and IPv6': [
      [https],
      [slice([slicePort]), slice([slicePort], 1)],
      4,
      2,
    ],
    'without a name, where the port of the Service has none': [
      [{ port: 443 }],
      [slice([{ name: '', port: 8443 }])],
      2,
      1,
    ],
    'not where the targetPort names no port of the pods': [[https], [slice(null)], 0, 0],
    'not with the port of another name': [[https], [slice([{ ...slicePort, name: 'metrics' }])], 0, 0],
    'not with UDP': [[{ ...https, protocol: 'UDP' }], [slice([{ ...slicePort, protocol: 'UDP' }])], 0, 0],
  };
  for (const [name, [ports, items, withPort, ready]] of Object.entries(cases))
    test(name, async (t) => {
      const { services } = await read(t, {
        '/services/cni-gate': { spec: { ports } },
        '/endpointslices': { metadata: { resourceVersion: '1' }, items },
      });
      const targetPorts = withPort > 0 ? [8443] : [];
      const found = { all: 2 * items.length, withPort, ready, targetPorts };
      assert.deepEqual(services[0]?.endpoints, { found });
    });
});

suite('of the Deployment', () => {
  const kept = async (t: TestContext, object: object) =>
    foundIn((await read(t, { '/deployments/cni-gate': object })).deployment);
  const withPods = (spec: object, more: object = {}): object => ({
    metadata: { generation: 2 },
    spec: { replicas: 2, template: { spec } },
    ...more,
  });
  const ofManifest = (path: string): object => {
    const text = readFileSync(new URL(`../../../../manifests/${path}`, import.meta.url), 'utf8');
    return withPods(parse(text).spec.template.spec);
  };

  test('the Secret of the serving certificate: of --tls-secret, or behind the file of --tls-cert', async (t) => {
    const mounted = (items?: object[]): object =>
      withPods({
        containers: [{ args: ['--tls-cert=/tls/web.pem'], volumeMounts: [{ name: 'v', mountPath: '/tls' }] }],
        volumes: [{ name: 'v', secret: { secretName: 's', ...(items && { items }) } }],
      });
    const cases: [object, object | undefined][] = [
      [ofManifest('base/deployment.yaml'), { name: 'cni-gate-tls', key: 'tls.crt', isAuthority: true }],
      [
        ofManifest('components/files/deployment.yaml'),
        { name: 'cni-gate-serving', key: 'tls.crt', isAuthority: false },
      ],
      [
        withPods({ containers: [{ args: ['--tls-secret', 'own'] }] }),
        { name: 'own', key: 'tls.crt', isAuthority: true },
      ],
      [mounted(), { name: 's', key: 'web.pem', isAuthority: false }],
      [mounted([{ key: 'cert', path: 'web.pem' }]), { name: 's', key: 'cert', isAuthority: false }],
      [withPods({ containers: [{ args: ['serve'] }] }), undefined],
      [withPods({}), undefined],
    ];
    for (const [object, secret] of cases) assert.deepEqual((await kept(t, object))?.secret, secret);
  });

  test('counts: missing ones are 0, and those of an older generation say nothing of updated pods', async (t) => {
    const { desired, ready, updated, stuck } =
      (await kept(t, { metadata: {}, spec: { template: {} } })) ?? {};
    assert.deepEqual([desired, ready, updated, stuck], [1, 0, 0, undefined]);
    for (const [observedGeneration, expected] of [
      [1, 0],
      [2, 2],
    ]) {
      const counts = { observedGeneration, readyReplicas: 2, updatedReplicas: 2 };
      assert.equal((await kept(t, withPods({}, { status: counts })))?.updated, expected);
    }
  });

  test('a rollout is stuck by its condition alone', async (t) => {
    const condition = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'late',
    };
    const stuck = async (one: object) =>
      (await kept(t, withPods({}, { status: { conditions: [one] } })))?.stuck;
    assert.equal(await stuck(condition), 'late');
    assert.equal(await stuck({ ...condition, status: 'True', reason: 'NewReplicaSetAvailable' }), undefined);
  });
});

test('of a webhook its target, its caBundle and its failurePolicy are kept, and whether it can be trusted', async (t) => {
  const service = { namespace: 'net', name: 'gate' };
  const webhooks = [
    { name: 'a', clientConfig: { service, caBundle: 'eA==' }, failurePolicy: 'Fail' },
    { name: 'b', clientConfig: { service: { ...service, port: 8443 }, caBundle: '' } },
    { name: 'c', clientConfig: { url: 'https://gate.example', service: null } },
  ];
  const { client } = await startFakeApi(t, (_, response) =>
    json(response, 200, {
      metadata: { resourceVersion: '1' },
      items: [{ metadata: { uid: 'u', name: 'cni-gate', resourceVersion: '1' }, webhooks }],
    }),
  );
  const { mutating = [] } = await readRegistered(client);
  assert.deepEqual(
    mutating.map(({ rules: _, ...webhook }) => webhook),
    [
      {
        name: 'a',
        trusted: true,
        service: { ...service, port: 443 },
        caBundle: 'eA==',
        failurePolicy: 'Fail',
      },
      { name: 'b', trusted: false, service: { ...service, port: 8443 } },
      { name: 'c', trusted: true, url: 'https://gate.example' },
    ],
  );
});
