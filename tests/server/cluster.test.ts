import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { clusterMetrics } from '../../webhook/cluster/metrics.ts';
import { watchNamespaces } from '../../webhook/cluster/view/watch-namespaces.ts';
import { viewOf } from '../support/cluster-views.ts';
import { type Asked, json, startFakeApi, status } from '../support/fake-api-server.ts';
import { listOf, namespace } from '../support/informing.ts';
import { recorded } from '../support/reviews.ts';
import { startServer } from '../support/running-server.ts';

const labels = { 'cni-gate.io/profile': 'cilium' };

/** Starts the server with a fake API server, and with short waiting times. */
async function serving(t: TestContext, answer: (asked: Asked, response: ServerResponse) => void) {
  const api = await startFakeApi(t, answer);
  const server = await startServer(t, {
    profile: undefined,
    cluster: (_policy, { registry, log }) => {
      const inside = { metrics: clusterMetrics(registry), log };
      const timing = { backoff: 1, longestBackoff: 4, answer: 10_000 };
      const { value, unready, close } = watchNamespaces(api.client, inside, timing);
      return viewOf(value, { unready, close });
    },
  });
  const review = async (name: string) => {
    const { body } = await server.post('/mutate?timeout=2s', JSON.stringify(recorded(name)));
    return JSON.parse(body).response;
  };
  return { api, server, review };
}

test('without an API server, readyz gives the reason, exempt pods are allowed and others refused with the reason', async (t) => {
  const { api, server, review } = await serving(t, (_asked, response) =>
    json(
      response,
      403,
      status(403, 'Forbidden', 'User "x" cannot list resource "namespaces" in API group ""'),
    ),
  );
  await api.nth(1);
  const ready = await server.ops('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.body, /^the namespaces of the cluster are not known yet: .*RBAC lacks verb "list"/);
  assert.equal((await server.ops('/livez')).status, 200);

  const exempt = await review('pod-host-networked');
  assert.equal(exempt.auditAnnotations.reason, 'host-network');
  const refused = await review('pod-deployment-web');
  assert.equal(refused.allowed, false);
  assert.match(refused.status.message, /^cannot get namespaces shop: .*\(CNI_GATE_CLUSTER_FORBIDDEN\)$/);
  const { body } = await server.ops('/metrics');
  assert.match(body, /^cni_gate_cluster_lists_total\{resource="namespaces",result="failure"\} [1-9]/m);
  assert.match(body, /^cni_gate_cluster_lookups_total\{resource="namespaces",result="failed"\} 1$/m);
  const reported = server.lines.filter(({ msg }) =>
    /^cannot list namespaces: .*RBAC lacks verb "list"/.test(String(msg)),
  );
  assert.equal(reported.length, 1, 'the same fault is logged once');
});

test('once the namespaces are listed, the server is ready and stays ready during an outage', async (t) => {
  let away = true;
  const { api, server, review } = await serving(t, ({ query }, response) => {
    if (away) json(response, 503, status(503, 'ServiceUnavailable', 'starting'));
    else if (query.watch === undefined) json(response, 200, listOf('5', [namespace('shop', '1', labels)]));
    else response.writeHead(200).flushHeaders();
  });
  await api.nth(1);
  assert.match((await server.ops('/readyz')).body, /starting/);
  away = false;
  await api.nth(2);
  // waits for the watch, which the client requests after the list
  while (api.asked.at(-1)?.query.watch === undefined) await api.nth(api.asked.length);
  assert.equal((await server.ops('/readyz')).body, 'ok\n');
  assert.equal((await review('pod-deployment-web')).auditAnnotations.outcome, 'injected');
  assert.deepEqual(
    server.lines.map(({ msg }) => String(msg)).filter((msg) => /API server answers|are known$/.test(msg)),
    ['the API server answers again about namespaces', 'the namespaces of the cluster are known'],
  );
  const { body } = await server.ops('/metrics');
  const contact = /^cni_gate_cluster_last_contact_timestamp_seconds\{resource="namespaces"\} (\S+)$/m.exec(
    body,
  );
  assert.ok(Math.abs(Number(contact?.[1]) - Date.now() / 1000) < 3600, 'in seconds since the epoch');

  const { length } = api.asked;
  away = true;
  for (const response of api.open) response.destroy();
  await api.nth(length + 3);
  assert.equal((await server.ops('/readyz')).body, 'ok\n');
  assert.equal((await review('pod-deployment-web')).auditAnnotations.outcome, 'injected');
  assert.match(
    (await server.ops('/metrics')).body,
    /watch_ends_total\{resource="namespaces",reason="failed"\} [1-9]/,
  );
});
