import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { stringify } from 'yaml';
import { folder } from '../support/folder.ts';
import { startServer } from '../support/running-server.ts';
import { binding } from '../unit/admission/gate/support.ts';
import { type AgentOptions, apiAgent, apiDaemonSet, apiNode } from '../unit/core/networks/objects.ts';

const config = `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
profiles: [{name: mesh, daemonSets: [{namespace: net, name: agent}]}]
`;

/** The manifests of a cluster in which the agent on node n1 has these options, and a pod waits for a node. */
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
  const path = folder(t, { 'config.yaml': config, 'state.yaml': state(agent) });
  const files = { config: join(path, 'config.yaml'), clusterState: join(path, 'state.yaml') };
  const server = await startServer(t, { ...files, profile: undefined, interval: 20 });
  const ask = async (body: object) => {
    const { body: text, status } = await server.post('/gate?timeout=2s', JSON.stringify(body));
    return { status, response: JSON.parse(text).response };
  };
  return { server, ask, files };
}

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
