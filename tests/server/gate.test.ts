import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { stringify } from 'yaml';
import { exchange } from '../support/exchange.ts';
import { folderWith } from '../support/folder.ts';
import { startServer } from '../support/running-server.ts';
import { binding } from '../unit/admission/gate/support.ts';
import { type AgentOptions, apiAgent, apiDaemonSet, apiNode } from '../unit/core/networks/objects.ts';

const config = `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
profiles: [{name: mesh, daemonSets: [{namespace: net, name: agent}]}, {name: bare}]
`;

/** The manifests of a cluster with a pending pod and, on node n1, an agent with these options. */
function state(agent: AgentOptions): string {
  const pending = {
    kind: 'Pod',
    metadata: {
      name: 'web-0',
      namespace: 'shop',
      uid: 'u1',
      annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
    },
    spec: {},
  };
  return [
    { kind: 'Node', ...apiNode('n1', 'b1', 1) },
    { kind: 'DaemonSet', ...apiDaemonSet('agent') },
    { kind: 'Pod', ...apiAgent('n1', agent) },
    pending,
  ]
    .map((object) => stringify(object))
    .join('---\n');
}

async function serving(t: TestContext, agent: AgentOptions) {
  const path = folderWith(t, { 'config.yaml': config, 'state.yaml': state(agent) });
  const files = { config: join(path, 'config.yaml'), clusterState: join(path, 'state.yaml') };
  const server = await startServer(t, { ...files, profile: undefined, interval: 20 });
  const ask = async (body: object) => {
    const { body: text, status } = await server.post('/gate?timeout=2s', JSON.stringify(body));
    return { status, response: JSON.parse(text).response };
  };
  return { server, ask, files };
}

suite('GET /nodes/NAME?profile=P, on the port for probes and metrics', () => {
  const reason =
    'node n1 is not ready for profile mesh: DaemonSet net/agent is broken there since 2026-11-21T11:30:00Z (pod agent-n1): its pod is not Ready: install-cni (CNI_GATE_NODE_NOT_READY)\n';

  test("answers with the gate's text while the gate would refuse the node, and with the state otherwise", async (t) => {
    const { files, server } = await serving(t, { ready: false });
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const address = { agent, host: '127.0.0.1', port: server.opsPort, path: '/nodes/n1?profile=mesh' };
    const { status, body, headers } = await exchange(request(address), '');
    assert.deepEqual([status, body, headers.connection], [503, reason, 'close']);
    assert.match(String(headers['content-type']), /^text\/plain/);
    assert.equal((await server.ops('/nodes/n1?profile=cilium.mesh')).body, reason, 'a combination');

    const audited = server.logged((line) => line.source === 'configuration');
    writeFileSync(files.config, `${config}gate: { mode: audit }\n`);
    await audited;
    assert.equal((await server.ops('/nodes/n1?profile=mesh')).status, 503, 'whatever gate.mode is');

    const reloaded = server.logged((line) => line.source === 'cluster-state');
    writeFileSync(files.clusterState, state({}));
    await reloaded;
    const ready = await server.ops('/nodes/n1?profile=mesh');
    assert.deepEqual([ready.status, ready.body], [200, 'ready\n']);
  });

  test('answers 404 for names that do not exist, and remembers none of them', async (t) => {
    const { server } = await serving(t, {});
    const longest = 'a'.repeat(253);
    const wrong: [path: string, body: RegExp][] = [
      ['n9?profile=mesh', /^node n9 is not known\n$/],
      ['n9?profile=bare', /^node n9 is not known\n$/],
      [`${longest}?profile=mesh`, /^node a{253} is not known\n$/],
      ['%1b%5b2J%0d?profile=mesh', /^node \ufffd is not known\n$/],
      ['n1?profile=mehs', /^profile "mehs" does not exist \(did you mean "mesh"\?\).*_PROFILE_UNKNOWN\)\n$/],
      ['n1?profile=mesh.mesh', /names a profile twice \(CNI_GATE_PROFILE_COMBINATION\)\n$/],
      [`n1?profile=${'a.'.repeat(4000)}`, /^profile "(a\.)+a…" is longer than .* \(63 characters\)/],
      ['n1?profile=mesh&profile=mesh', /^profile "mesh,mesh" does not exist/],
      ['n1', /^give the profiles/],
    ];
    for (const [path, expected] of wrong) {
      const { status, body } = await server.ops(`/nodes/${path}`);
      assert.equal(status, 404, path);
      assert.match(body, expected);
    }
    assert.equal((await server.ops(`/nodes/${longest}a?profile=mesh`)).status, 414);
    const samples = async (): Promise<string[]> =>
      (await server.ops('/metrics')).body.split('\n').filter((line) => /^cni_gate_/.test(line));
    const before = await samples();
    for (let at = 0; at < 200; at++) await server.ops(`/nodes/made-up-${at}?profile=mesh`);
    assert.equal((await samples()).length, before.length);
  });
});

suite('POST /gate', () => {
  test('refuses a node that is not ready with 403 and no patch, and allows it once it is', async (t) => {
    const { ask, files, server } = await serving(t, { ready: false });
    const { status, response } = await ask(binding());
    assert.equal(status, 200);
    assert.equal(response.allowed, false);
    assert.equal(response.status.code, 403);
    assert.match(
      response.status.message,
      /^node n1 is not ready for profile mesh: DaemonSet net\/agent is broken there/,
    );
    assert.deepEqual(response.auditAnnotations, { outcome: 'refused', reason: 'broken', profiles: 'mesh' });
    assert.deepEqual([response.patch, response.patchType], [undefined, undefined]);

    const metrics = (await server.ops('/metrics')).body;
    assert.match(metrics, /^cni_gate_nodes\{profile="mesh",daemonset="net\/agent",state="broken"\} 1$/m);
    assert.match(metrics, /^cni_gate_held_pods 1$/m);

    const reloaded = server.logged((line) => line.source === 'cluster-state');
    writeFileSync(files.clusterState, state({}));
    await reloaded;
    const now = await ask(binding());
    assert.deepEqual([now.response.allowed, now.response.auditAnnotations.reason], [true, 'ready']);
    const { body } = await server.ops('/metrics');
    assert.match(
      body,
      /cni_gate_admission_reviews_total\{webhook="gate",profile="mesh",outcome="refused",reason="broken"\} 1/,
    );
  });

  test('answers a body that is not a placement with 400 and a code', async (t) => {
    const { server } = await serving(t, {});
    const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
    const { status, body } = await server.post('/gate', JSON.stringify(binding('n1', { kind })));
    assert.equal(status, 400);
    assert.match(body, /CNI_GATE_REVIEW_KIND/);
  });
});
