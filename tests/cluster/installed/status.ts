import assert from 'node:assert/strict';
import { after } from 'node:test';
import { profileLabel } from '../../../webhook/lib/names.ts';
import type { Status } from '../../../webhook/report/status/status.ts';
import { cniGate, type Ended } from '../../support/command.ts';
import type { Access } from '../harness/access.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { startCluster } from '../harness/start.ts';
import { install, runningPods } from './installation.ts';
import { startPod } from './pod.ts';
import { makeNamespace } from './working.ts';

export interface Reported extends Status {
  exit: number | null;
}

/** The codes of a status's faults. */
export const codes = ({ faults }: Status): string[] => faults.map(({ code }) => code);

/** The network that profile cilium waits for, ready on both nodes. */
export async function bringNetwork(cluster: Cluster): Promise<void> {
  const labels = { app: 'cilium' };
  const spec = { hostNetwork: true, containers: [{ name: 'cilium-agent', image: 'example/cilium' }] };
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'kube-system', name: 'cilium' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

/**
 * The overlay strict as it is installed, with a network that is ready and namespace `shop`, which opted in. All of it
 * ends with the tests of the file.
 */
export async function installWithStatus() {
  const cluster = await startCluster();
  let { replicas } = await install(cluster, 'strict');
  const endAll = (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  after(endAll);
  const kubectl = (text: string): Promise<string> => cluster.kubectl(text.split(' '));
  const command = (args: string[], { kubeconfig }: Pick<Access, 'kubeconfig'> = cluster.admin): Ended =>
    cniGate(['status', '--kubeconfig', kubeconfig, ...args]);

  /** The text of `status --probe`, with the lines that were folded in one piece. */
  const probed = (): string => command(['--probe']).stdout.replaceAll(/\n {2}(?=\S)/g, ' ');

  /** The status as programs get it, with the exit code. */
  const status = (args: string[] = [], access?: Access): Reported => {
    const { status: exit, stdout, stderr } = command(['--output', 'json', ...args], access);
    assert.equal(stderr, '');
    return { ...JSON.parse(stdout), exit };
  };

  const allIsWell = (): Promise<void> =>
    eventually(async () => {
      const { status: exit, stdout } = command([]);
      assert.equal(exit, 0, stdout);
      assert.match(stdout, /^All is well\.\n/);
    });

  /** Runs the Deployment's pods as they are now. */
  const startReplicas = async (): Promise<void> => {
    const pods = await runningPods(cluster, 2);
    replicas = await Promise.all(pods.map((pod) => startPod(cluster, pod)));
  };
  await bringNetwork(cluster);
  await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
  return { cluster, kubectl, command, probed, status, allIsWell, startReplicas, endAll };
}
