import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { parse } from 'yaml';
import { installedConfiguration } from '../../../webhook/lib/names.ts';
import type { Status } from '../../../webhook/report/show/status.ts';
import { cniGate, type Ended, startCniGate } from '../../support/command.ts';
import { eventually } from '../harness/eventually.ts';
import { addNode } from '../harness/nodes.ts';
import type { ClusterOptions } from '../harness/options.ts';
import { startCluster } from '../harness/start.ts';
import { configuration, daemonSet, manifest, optedIn, sceneIn } from './scene.ts';
import { podsOf, stepsIn } from './steps.ts';

export const named = (name: string): string => `${podsOf(optedIn)}?fieldSelector=metadata.name%3D${name}`;

const stateOfN1 = ({ nodes }: Status) => nodes.find(({ node }) => node === 'n1')?.state;

/** Whether the agent of n1 is not Ready. The state is `starting` at first, and `broken` later on a slow machine. */
export const isN1Down = (seen: Status): boolean => ['starting', 'broken'].includes(stateOfN1(seen) ?? '');

/** A cluster for which `cni-gate status` reports no problem: node n1 has a ready agent, node `outside` has no agent. */
export async function setStatusScene(options: ClusterOptions = {}) {
  const cluster = await startCluster(options);
  const { apply } = cluster;
  const scene = await sceneIn(cluster);

  const command = (...args: string[]): Ended =>
    cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, ...args]);

  function status(...args: string[]): Status & { exit: number | null } {
    const { status: exit, stdout, stderr } = command('--output', 'json', ...args);
    assert.equal(stderr, '');
    return { ...JSON.parse(stdout), exit };
  }

  const steps = stepsIn(cluster);
  const setReady = async (ready: boolean, containerID = 'containerd://1'): Promise<void> =>
    steps.setReady(await steps.agentOn('n1'), ready, containerID);

  const measured = (line: RegExp): Promise<void> =>
    eventually(async () => {
      const answer = await fetch(`http://${scene.server.host}:${scene.server.opsPort}/metrics`);
      assert.match(await answer.text(), line);
    });

  function watching(t: TestContext, ...args: string[]) {
    const child = startCniGate([
      ...['status', '--kubeconfig', cluster.admin.kubeconfig, '--watch', '--output', 'json', ...args],
    ]);
    t.after(() => child.kill('SIGKILL'));
    assert.ok(child.stdout && child.stderr);
    const reported = createInterface({ input: child.stderr });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      until: async (isIt: (status: Status) => boolean): Promise<Status> => {
        for (;;) {
          const { value, done } = await lines.next();
          assert.ok(!done, 'it ended before');
          const seen: Status = JSON.parse(value);
          if (isIt(seen)) return seen;
        }
      },
      reported: async (text: RegExp): Promise<void> => {
        for await (const line of reported) if (text.test(line)) return;
        assert.fail(`it ended without ${text}`);
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
  return { cluster, apply, command, status, setReady, measured, watching };
}

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
