import assert from 'node:assert/strict';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { networkNamespace, onNode, optedIn, type Pod, podOn } from './scene.ts';

export const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

export const scheduled = ({ status }: Pick<Pod, 'status'>) =>
  status.conditions?.find(({ type }) => type === 'PodScheduled');

/** The Binding of a pod to a node. @param kind the target's kind, which may be empty */
export const binding = (name: string, node: string, kind = 'Node'): object => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name, namespace: optedIn },
  target: { name: node, kind },
});

const isRefused = (pod: Pod): boolean => scheduled(pod)?.message?.includes('denied') ?? false;

export function stepsIn(cluster: Cluster) {
  const { api, apply } = cluster;

  const named = (namespace: string, name: string): string =>
    `${podsOf(namespace)}?fieldSelector=metadata.name%3D${name}`;

  const agentOn = (node: string, name = 'agent'): Promise<Pod> =>
    api.until<Pod>(
      `${podsOf(networkNamespace)}?labelSelector=app%3D${name}&fieldSelector=spec.nodeName%3D${node}`,
      ({ status }) => status.phase === 'Running',
    );

  /**
   * Sets whether the agent's pod is Ready. `containerID` is the ID of a container that just started. kwok sets neither.
   */
  const setReady = async (pod: Pod, ready: boolean, containerID?: string): Promise<void> => {
    const status = ready ? 'True' : 'False';
    const now = new Date().toISOString();
    const conditions = [{ type: 'Ready', status, lastTransitionTime: now }];
    const container = { name: 'install-cni', image: 'example/agent', imageID: '', restartCount: 0, ready };
    const run =
      containerID === undefined
        ? { containerID: `kwok://${pod.metadata.uid}/install-cni` }
        : { containerID, state: { running: { startedAt: now } } };
    await api.patch(`${podsOf(networkNamespace)}/${pod.metadata.name}/status`, {
      status: { conditions, containerStatuses: [{ ...container, ...run }] },
    });
  };

  const refusal = async (node: string, name: string): Promise<string> => {
    await apply(podOn(name, { spec: onNode(node) }));
    const pod = await api.until<Pod>(named(optedIn, name), isRefused);
    await api.delete(`${podsOf(optedIn)}/${name}`);
    assert.equal(scheduled(pod)?.reason, 'SchedulerError');
    return scheduled(pod)?.message ?? '';
  };

  const bound = async (node: string, name: string, more: Parameters<typeof podOn>[1] = {}): Promise<void> => {
    await apply(podOn(name, { ...more, spec: { ...onNode(node), ...more.spec } }));
    await api.until<Pod>(named(more.namespace ?? optedIn, name), ({ spec }) => spec.nodeName === node);
  };

  /** Creates pods for a node, one after another, until the gate's answer for one of them is `outcome`. */
  const until = async (
    outcome: 'allowed' | 'refused',
    node: string,
    name: string,
    seconds = 60,
  ): Promise<void> => {
    const end = performance.now() + seconds * 1000;
    for (let round = 0; ; round += 1) {
      const pod = `${name}-${round}`;
      await apply(podOn(pod, { spec: onNode(node) }));
      const left = Math.max(1, Math.ceil((end - performance.now()) / 1000));
      const seen = await api.until<Pod>(
        named(optedIn, pod),
        (one) => one.spec.nodeName === node || isRefused(one),
        left,
      );
      await api.delete(`${podsOf(optedIn)}/${pod}`);
      if (isRefused(seen) === (outcome === 'refused')) return;
    }
  };

  /** Requests a binding to the node (as a dry run, without the scheduler) until the gate returns `outcome`. */
  const says = async (outcome: 'allowed' | 'refused', node: string, seconds: number): Promise<void> => {
    const name = 'asked-for';
    const pod = podOn(name, { spec: { schedulerName: 'nobody' } });
    await eventually(() => apply(pod), seconds);
    await eventually(async () => {
      const answer = await api
        .post(`${podsOf(optedIn)}/${name}/binding?dryRun=All`, binding(name, node))
        .then(() => 'allowed', String);
      assert.match(answer, outcome === 'allowed' ? /^allowed$/ : /denied the request: node/);
    }, seconds);
  };

  return { agentOn, apply, bound, named, refusal, says, setReady, until };
}
