import { networkNamespace } from '../gate/scene.ts';
import { podsOf } from '../gate/steps.ts';
import type { Cluster } from '../harness/cluster.ts';
import { addNode } from '../harness/nodes.ts';

/** As many as a kubelet tells of, by its own default (`nodeStatusMaxImages`). */
const images = Array.from({ length: 50 }, (_, index) => ({
  names: [
    `registry.example/team-${index}/service-${index}@sha256:${index.toString(16).padStart(64, 'a')}`,
    `registry.example/team-${index}/service-${index}:v1.${index}.0`,
  ],
  sizeBytes: 100_000_000 + index,
}));

/** What makes the pod of a network's DaemonSet as large as they are, about 5 KiB. */
const env = Array.from({ length: 30 }, (_, index) => ({ name: `SETTING_${index}`, value: 'x'.repeat(40) }));
const volumes = Array.from({ length: 8 }, (_, index) => ({
  name: `host-${index}`,
  hostPath: { path: `/var/lib/network/folder-${index}` },
}));
const volumeMounts = volumes.map(({ name, hostPath }) => ({ name, mountPath: hostPath.path }));

/**
 * Adds nodes, as large as a kubelet makes them, and to each the pod of a DaemonSet. Kubelets and the DaemonSet's
 * controller are left out: all is written as they would leave it.
 *
 * @param daemonSet UID of the DaemonSet agent
 * @param range the nodes' numbers: from, and up to but not including
 * @param ready whether the pod on the node of that number is Ready
 */
export async function fill(
  cluster: Cluster,
  daemonSet: string,
  [from, to]: [number, number],
  ready: (index: number) => boolean,
): Promise<void> {
  const { api } = cluster;
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: daemonSet, controller: true };
  const one = async (index: number): Promise<void> => {
    const node = nodeName(index);
    await addNode(cluster, node, { kwok: false });
    await api.patch(`/api/v1/nodes/${node}/status`, { status: { images } });
    const name = `agent-${index}`;
    await api.post(podsOf(networkNamespace), {
      metadata: { name, labels: { app: 'agent' }, ownerReferences: [owner] },
      spec: {
        nodeName: node,
        hostNetwork: true,
        containers: [{ name: 'agent', image: 'example/agent', env, volumeMounts }],
        volumes,
        tolerations: [{ operator: 'Exists' }],
      },
    });
    await api.patch(`${podsOf(networkNamespace)}/${name}/status`, { status: statusOf(index, ready(index)) });
  };
  // the client sends fifty at a time
  await Promise.all(Array.from({ length: to - from }, (_, index) => one(from + index)));
}

/** The name of the node of that number. */
export const nodeName = (index: number): string => `node-${index}`;

function statusOf(index: number, ready: boolean): object {
  const time = new Date().toISOString();
  const condition = (type: string, holds: boolean): object => ({
    type,
    status: holds ? 'True' : 'False',
    lastTransitionTime: time,
  });
  return {
    phase: 'Running',
    startTime: time,
    conditions: [
      ...['PodReadyToStartContainers', 'Initialized', 'PodScheduled'].map((type) => condition(type, true)),
      ...['ContainersReady', 'Ready'].map((type) => condition(type, ready)),
    ],
    containerStatuses: [
      {
        name: 'agent',
        image: 'example/agent',
        imageID: `registry.example/agent@sha256:${'b'.repeat(64)}`,
        containerID: `containerd://${index.toString(16).padStart(64, '0')}`,
        restartCount: 0,
        ready,
        state: { running: { startedAt: time } },
      },
    ],
  };
}
