import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installedConfiguration } from '../../../webhook/lib/names.ts';
import type { Status } from '../../../webhook/report/status/model.ts';
import { cniGate, type Ended, startCniGate } from '../../support/command.ts';
import { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { addNode } from '../harness/nodes.ts';
import type { ClusterOptions } from '../harness/options.ts';
import { installedRegistrations } from '../installed/registration.ts';
import { configuration, daemonSet, networkNamespace, optedIn, type Pod, setTheScene } from './scene.ts';

export const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** The list of one pod of the namespace that opted in. */
export const named = (name: string): string => `${podsOf(optedIn)}?fieldSelector=metadata.name%3D${name}`;

export const stateOfN1 = ({ nodes }: Status) => nodes.find(({ node }) => node === 'n1')?.state;

/** Whether the agent of n1 is not Ready: `starting` while its pod is young, `broken` on a machine that took longer. */
export const isN1Down = (seen: Status): boolean => ['starting', 'broken'].includes(stateOfN1(seen) ?? '');

/** A file of the manifests. */
export const manifest = (name: string): string =>
  fileURLToPath(new URL(`../../../manifests/base/${name}.yaml`, import.meta.url));

/**
 * A cluster on which `cni-gate status` is well: the gate's scene, all of an installation that its verdict needs, node n1
 * with a ready agent, and node `outside` without one. It ends with the tests of the file.
 */
export async function setStatusScene(options: ClusterOptions = {}) {
  const cluster = await Cluster.start(options);
  after(() => cluster.stop());
  const { api } = cluster;
  const scene = await setTheScene(cluster);
  after(() => scene.server.end());

  const apply = (...input: object[]): Promise<string> => cluster.kubectl(['apply', '-f', '-'], { input });
  const command = (...args: string[]): Ended =>
    cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, ...args]);

  /** The status as programs get it, and the exit code that goes with it. */
  function status(...args: string[]): Status & { exit: number | null } {
    const { status: exit, stdout, stderr } = command('--output', 'json', ...args);
    assert.equal(stderr, '');
    return { ...JSON.parse(stdout), exit };
  }

  /** Makes the agent's pod on n1 read Ready or not; kwok leaves a pod that runs alone. */
  const setReady = async (ready: boolean, containerID = 'containerd://1'): Promise<void> => {
    const pod = await agent();
    const conditions = [
      { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: new Date().toISOString() },
    ];
    const container = { name: 'install-cni', image: 'example/agent', imageID: '', restartCount: 0, ready };
    await api.patch(`${podsOf(networkNamespace)}/${pod.metadata.name}/status`, {
      status: { conditions, containerStatuses: [{ ...container, containerID }] },
    });
  };

  const agent = (): Promise<Pod> =>
    api.until<Pod>(
      `${podsOf(networkNamespace)}?fieldSelector=spec.nodeName%3Dn1`,
      ({ status: { phase } }) => phase === 'Running',
    );

  /** Waits until the server's metrics say so. */
  const measured = (line: RegExp): Promise<void> =>
    eventually(async () => {
      const answer = await fetch(`http://${scene.server.host}:${scene.server.opsPort}/metrics`);
      assert.match(await answer.text(), line);
    });

  /** The documents of `status --watch`, one after another, and the end of it. */
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
      /** Waits until standard error says so. */
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
