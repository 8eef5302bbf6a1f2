import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { installedConfiguration } from '../../webhook/lib/names.ts';
import type { CheckId, Row } from '../../webhook/report/judge/catalogue.ts';
import type { Report } from '../../webhook/report/show/report.ts';
import { cniGate, type Ended } from '../support/command.ts';
import {
  configuration,
  daemonSet,
  manifest,
  onNode,
  optedIn,
  type Pod,
  podOn,
  sceneIn,
} from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';

/*
 * What `cni-gate status` reports about a real control plane. At first there is nothing to report: node n1 has a ready
 * agent, node `outside` has no agent.
 */

const cluster = await startCluster();
const { api, apply } = cluster;
const scene = await sceneIn(cluster);

const command = (...args: string[]): Ended =>
  cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, ...args]);

function status(...args: string[]): Report & { exit: number | null } {
  const { status: exit, stdout, stderr } = command('--output', 'json', ...args);
  assert.equal(stderr, '');
  return { ...JSON.parse(stdout), exit };
}

const steps = stepsIn(cluster);
const setReady = async (ready: boolean): Promise<void> =>
  steps.setReady(await steps.agentOn('n1'), ready, 'containerd://1');

const measured = (line: RegExp): Promise<void> =>
  eventually(async () => {
    const answer = await fetch(`http://${scene.server.host}:${scene.server.opsPort}/metrics`);
    assert.match(await answer.text(), line);
  });

const rowsOf = ({ rows }: Report, id: CheckId): Row[] => rows.filter(({ check }) => check === id);

const { name: configMap, key } = installedConfiguration;
await apply({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'cni-gate', name: configMap },
  data: { [key]: configuration(['agent'], 'off') },
});
await apply(...installedRegistrations(readFileSync(join(cluster.folder, 'webhook-authority.pem'))));
await cluster.kubectl(['apply', '-f', manifest('policy-pods'), '-f', manifest('policy-service-account')]);
await addNode(cluster, 'n1');
await addNode(cluster, 'outside');
await apply(daemonSet('agent', { nodeSelector: { 'kubernetes.io/hostname': 'n1' } }));
await setReady(true);

const named = (name: string): string => `${podsOf(optedIn)}?fieldSelector=metadata.name%3D${name}`;

/** The webhook configurations of the manifests, because `status` compares the registered ones with them. */
function installedRegistrations(authority: Buffer): object[] {
  return ['mutating', 'validating'].map((kind) => {
    const file = manifest(`${kind}-webhook`);
    const configuration: { webhooks: { clientConfig: object }[] } = parse(readFileSync(file, 'utf8'));
    const caBundle = authority.toString('base64');
    const webhooks = configuration.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    }));
    return { ...configuration, webhooks };
  });
}

const running = (name: string): Promise<Pod> =>
  api.until<Pod>(named(name), (pod) => pod.status.phase === 'Running');

test('all is well: exit code 0, with the configuration in the ConfigMap', async () => {
  await apply(podOn('proved', { spec: onNode('n1') }));
  await running('proved');
  const report = status();
  assert.deepEqual([report.exit, report.configuration], [0, 'config.yaml of ConfigMap cni-gate/cni-gate']);
  assert.deepEqual(
    report.rows.map(({ check, object, what }) => [check, object, what]),
    [
      ['certificate', null, 'no Deployment names the Secret of the certificate'],
      ['namespaces', optedIn, 'mesh: 1 passed'],
      ['nodes', 'mesh', '1 ready, 1 exempt'],
    ],
  );
  const text = command('--all');
  assert.match(
    text.stdout,
    /^All \d+ checks passed\. Not known: certificate\.\n.* +mesh +n1 +ready +-\n.* +mesh +outside +exempt +-\n/s,
  );
});

test('a node that is not ready is listed, with the pod held for it and a pod sent elsewhere', async () => {
  await setReady(false);
  await measured(/^cni_gate_nodes\{profile="mesh",daemonset="net\/agent",state="starting"\} 1$/m);
  await apply(podOn('waits', { spec: onNode('n1') }));
  const waits = await api.until<Pod>(named('waits'), (pod) =>
    pod.status.conditions?.some(({ message }) => message?.includes('denied')),
  );
  await measured(/^cni_gate_held_pods 1$/m);
  // no scheduler handles this pod, so the status that the test writes stays
  await api.post(podsOf(optedIn), podOn('sent', { spec: { schedulerName: 'nobody' } }));
  await api.patch(`${podsOf(optedIn)}/sent/status`, {
    status: { conditions: waits.status.conditions, nominatedNodeName: 'outside' },
  });
  const report = status();
  assert.equal(report.exit, 1);
  const [, node, ...others] = rowsOf(report, 'nodes');
  assert.match(node?.since ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(
    [node?.object, node?.node, node?.state, node?.what, others],
    ['mesh', 'n1', 'starting', 'DaemonSet net/agent: its pod is not Ready: install-cni', []],
  );
  const held = rowsOf(report, 'held-pods');
  assert.deepEqual(
    held.map(({ object, node: refused, state, hint }) => [object, refused, state, hint]),
    [
      ['shop/sent', 'n1', 'nominated', 'node outside is nominated'],
      // the ConfigMap turns steering off
      ['shop/waits', 'n1', 'held', 'steering is off'],
    ],
  );
  for (const { what } of held) assert.match(what, /DaemonSet net\/agent is starting there .*: install-cni$/);
  assert.match(
    command().stdout,
    /^ +shop\/waits +n1 +held +\d+s\n +.*DaemonSet net\/agent is starting there/m,
  );
  await cluster.kubectl(['delete', 'pod', '-n', optedIn, 'waits', 'sent', '--now']);
  await setReady(true);
  assert.equal(status().exit, 0);
});
