import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { readService } from '../../../webhook/status/collect/installation.ts';
import { ClusterReader } from '../../../webhook/status/collect/reader.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';

const https = { name: 'https', port: 443, protocol: 'TCP', targetPort: 'https' };
const slicePort = { name: 'https', port: 8443, protocol: 'TCP' };

/** Two endpoints, one of them ready, in a slice with these ports. */
const slice = (ports: object[] | null, at = 0): object => ({
  metadata: { uid: `u${at}`, name: `cni-gate-${at}`, resourceVersion: '1' },
  ports,
  endpoints: [{ conditions: { ready: true } }, { conditions: { ready: false } }],
});

/** What is read of a Service with these ports and slices. */
async function counted(t: TestContext, ports: object[], ...slices: object[]) {
  const api = await startFakeApi(t, ({ path }, response) => {
    if (path.includes('endpointslices'))
      return json(response, 200, { metadata: { resourceVersion: '1' }, items: slices });
    return json(response, 200, { spec: { ports } });
  });
  const called = { namespace: 'cni-gate', name: 'cni-gate', port: 443 };
  const { endpoints } = await readService(new ClusterReader(api.client, t.signal), called);
  return endpoints;
}

suite('an endpoint counts', () => {
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
    'beside another port with the same number': [
      [{ ...https, name: 'quic', protocol: 'UDP' }, https],
      [slice([{ ...slicePort, name: 'quic', protocol: 'UDP' }, slicePort])],
      2,
      1,
    ],
    'not where the targetPort names no port of the pods': [[https], [slice(null)], 0, 0],
    'not with the port of another name': [[https], [slice([{ ...slicePort, name: 'metrics' }])], 0, 0],
    'not with a port without a number': [[https], [slice([{ name: 'https', protocol: 'TCP' }])], 0, 0],
    'not with UDP': [[{ ...https, protocol: 'UDP' }], [slice([{ ...slicePort, protocol: 'UDP' }])], 0, 0],
  };
  for (const [name, [ports, slices, withPort, ready]] of Object.entries(cases)) {
    test(name, async (t) => {
      const all = 2 * slices.length;
      assert.deepEqual(await counted(t, ports, ...slices), { found: { all, withPort, ready } });
    });
  }
});
