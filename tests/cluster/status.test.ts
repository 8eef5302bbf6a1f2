import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { installedConfiguration, profileLabel } from '../../webhook/lib/names.ts';
import type { Status } from '../../webhook/report/show/status.ts';
import { cniGate, type Ended, main, startCniGate } from '../support/command.ts';
import {
  bystander,
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
import { namespace } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';

/*
 * What `cni-gate status` reports about a real control plane, once and with `--watch`. At first there is nothing to
 * report: node n1 has a ready agent, node `outside` has no agent.
 */

const cluster = await startCluster({ own: true });
const { api, apply } = cluster;
const scene = await sceneIn(cluster);

const command = (...args: string[]): Ended =>
  cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, ...args]);

function status(...args: string[]): Status & { exit: number | null } {
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

function watching(t: TestContext) {
  const { kubeconfig } = cluster.admin;
  const child = startCniGate(['status', '--kubeconfig', kubeconfig, '--watch', '--output', 'json']);
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout && child.stderr);
  const reported = createInterface({ input: child.stderr });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    until: async (isIt: (status: Status) => boolean): Promise<Status> => {
      for (;;) {
        const { value, done } = await lines.next();
        assert.ok(!done, 'the command ended before it printed the expected status');
        const seen: Status = JSON.parse(value);
        if (isIt(seen)) return seen;
      }
    },
    reported: async (text: RegExp): Promise<void> => {
      for await (const line of reported) if (text.test(line)) return;
      assert.fail(`the command ended without ${text}`);
    },
    end: async (): Promise<number | null> => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

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

/** Whether the agent of n1 is not Ready. The state is `starting` at first, and `broken` later on a slow machine. */
const isN1Down = ({ nodes }: Status): boolean =>
  nodes.some(({ node, state }) => node === 'n1' && (state === 'starting' || state === 'broken'));

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
  const { exit, well, configuration: from, features, daemonSets, namespaces, ...lists } = status();
  assert.deepEqual(
    features.map(({ feature, mode, inForce }) => [feature, mode, inForce]),
    [
      ['prove', 'enforce', true],
      ['gate', 'enforce', true],
      // the configuration in this file turns steering off
      ['steer', 'off', false],
      ['repair', 'audit', false],
    ],
  );
  assert.deepEqual([exit, well, from], [0, true, 'config.yaml of ConfigMap cni-gate/cni-gate']);
  const pods = { passed: 1, failed: 0, waiting: 0, optedOut: 0, withoutProof: 0, skipped: 0 };
  assert.deepEqual(namespaces, [{ name: optedIn, profile: 'mesh', pods }]);
  assert.deepEqual(lists.pods, pods);
  assert.deepEqual(
    daemonSets.map(({ namespace: of, name, nodes: { ready, exempt } }) => [`${of}/${name}`, ready, exempt]),
    [['net/agent', 1, 1]],
  );
  assert.deepEqual([lists.nodes, lists.heldPods, lists.podsWithoutProof, lists.faults], [[], [], [], []]);
  const text = command('--all');
  assert.match(
    text.stdout,
    /^All is well, as far as .*^n1 +net\/agent +ready .*^outside +net\/agent +exempt /ms,
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
  // no scheduler takes this pod, so the status that the test writes stays
  await api.post(podsOf(optedIn), podOn('sent', { spec: { schedulerName: 'nobody' } }));
  await api.patch(`${podsOf(optedIn)}/sent/status`, {
    status: { conditions: waits.status.conditions, nominatedNodeName: 'outside' },
  });
  const { exit, nodes, heldPods } = status();
  assert.equal(exit, 1);
  const [node] = nodes;
  assert.match(node?.since ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(
    nodes.map(({ since: _, pod, ...rest }) => ({ ...rest, pod: pod?.slice(0, 6) })),
    [
      {
        node: 'n1',
        daemonSet: 'net/agent',
        state: 'starting',
        pod: 'agent-',
        why: 'its pod is not Ready: install-cni',
        inUse: true,
      },
    ],
  );
  assert.deepEqual(
    heldPods.map(({ name, refused, nominated, notNominated }) => [name, refused, nominated, notNominated]),
    [
      ['sent', 'n1', 'outside', null],
      // the ConfigMap turns steering off
      ['waits', 'n1', null, 'steering is not in force: pods that are refused wait'],
    ],
  );
  const { stdout: shown } = command('-o', 'wide');
  assert.match(shown, /^HELD POD +REFUSED NODE +AGE +NOMINATED +WHY +NOT NOMINATED$/m);
  assert.match(
    shown,
    /^shop\/waits +n1 +\d+s +- .*DaemonSet net\/agent is starting there .* steering is not in force: pods that are refused wait$/m,
  );
  for (const { why } of heldPods)
    assert.match(why, /DaemonSet net\/agent is starting there .*: install-cni$/);
  await cluster.kubectl(['delete', 'pod', '-n', optedIn, 'waits', 'sent', '--now']);
  await setReady(true);
  assert.equal(status().exit, 0);
});

test('-n with a namespace that has not opted in says so, and how to opt in', async () => {
  const { exit, faults, namespaces } = status('-n', bystander);
  assert.deepEqual([exit, faults.map(({ code }) => code), namespaces], [1, ['CNI_GATE_NOT_OPTED_IN'], []]);
  const { stdout } = command('-n', bystander);
  assert.match(stdout, /^Namespace plain has not opted in\.$/m);
  const [, advice = ''] =
    / (label --overwrite namespace plain \S+=)PROFILE/.exec(faults[0]?.message ?? '') ?? [];
  await cluster.kubectl(`${advice}mesh`.split(' '));
  assert.equal(status('-n', bystander).exit, 0);
  await cluster.kubectl(['label', 'namespace', bystander, `${profileLabel}=none`, '--overwrite']);
  assert.equal(status('-n', bystander).exit, 1);
  assert.equal(status().exit, 0);
  await cluster.kubectl(['label', 'namespace', bystander, `${profileLabel}-`]);
});

test('--watch prints a document at each change, continues through an outage, and exits with the last exit code', async (t) => {
  const { until, reported, end } = watching(t);
  await until(({ well }) => well);
  await setReady(false);
  await until((seen) => isN1Down(seen) && !seen.well);
  await apply(namespace('later', { [profileLabel]: 'mesh' }), podOn('web', { namespace: 'later' }));
  await until(({ namespaces }) => namespaces.some(({ name }) => name === 'later'));
  await cluster.kubectl(['label', 'namespace', 'later', `${profileLabel}-`]);
  await until(({ namespaces }) => namespaces.length === 1);
  const { 'kube-apiserver': apiServer } = cluster.components;
  await apiServer.kill();
  await reported(/^cni-gate: cannot \w+ \S+: no answer from the API server .*; it is tried again$/);
  await apiServer.start();
  await setReady(true);
  await until(({ well }) => well);
  assert.equal(await end(), 0);
});

test('--watch ends when its reader closes, and redraws on a terminal', async (t) => {
  const args = ['status', '--kubeconfig', cluster.admin.kubeconfig, '--watch'];
  const unread = startCniGate(args);
  t.after(() => unread.kill('SIGKILL'));
  const over = once(unread, 'exit');
  assert.ok(unread.stdout);
  const [first] = await once(unread.stdout, 'data');
  // without a terminal, nothing is overwritten, and an empty line ends each report
  assert.match(String(first), /^All is well.*\n\n$/s);
  unread.stdout.destroy();

  // exec, because a shell in between could handle Ctrl-C itself and end with 130
  const commandLine = ['exec', process.execPath, main, ...args].join(' ');
  const terminal = spawn('script', ['-qec', commandLine, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => terminal.kill('SIGKILL'));
  const shown = terminal.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  const until = async (text: RegExp | ((seen: string) => boolean)): Promise<void> => {
    const isIt = typeof text === 'function' ? text : (seen: string) => text.test(seen);
    for (let seen = ''; !isIt(seen); ) {
      const { value, done } = await shown.next();
      assert.ok(!done, seen);
      seen += value;
    }
  };
  await until(/\[H\S*\[J\S*All is well/s);
  t.after(() => setReady(true));
  await setReady(false);
  await until(/\[H\S*\[J\S*Not all is well/s);
  // the report shows ages, so it is redrawn even if only time has passed
  await until((seen) => {
    const frames = seen.split('\u001b[H').filter((frame) => /ll is well/.test(frame));
    const timeless = frames.map((frame) => frame.replaceAll(/Status at \S+|\b\d+[smhd]\b/g, ''));
    return frames.some((frame, at) => timeless[at] === timeless[at + 1] && frame !== frames[at + 1]);
  });
  // Ctrl-C
  terminal.stdin.write('\u0003');
  const [[code]] = await Promise.all([once(terminal, 'exit'), over]);
  assert.equal(code, 1);
});
