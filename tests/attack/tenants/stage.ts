import { profileLabel } from '../../../webhook/lib/names.ts';
import type { Api } from '../../cluster/harness/api.ts';
import { Cluster } from '../../cluster/harness/cluster.ts';
import { addNode, nodeObject } from '../../cluster/harness/nodes.ts';
import { endpoints, runningPods, trusted } from '../../cluster/installed/installation.ts';
import { apply } from '../../cluster/installed/overlay.ts';
import { makeNamespace } from '../../cluster/installed/working.ts';
import { ControlGroup } from '../harness/control-group.ts';
import {
  broken,
  innocent,
  network,
  networkDaemonSet,
  networkLabel,
  optedIn,
  other,
  outside,
  podsOf,
  spare,
} from './objects.ts';
import { Replica } from './replica.ts';

/** Nodes beside the three that have a network: as many as the figures are of. */
const fillers = 999;
const filling = { cpu: '64', memory: '256Gi' };

/** A control plane with cni-gate installed, on which tenants and a kubelet do as they like. */
export interface Stage {
  cluster: Cluster;
  api: Api;
  replicas: Replica[];
  /** The pod of the network's DaemonSet on the node that is not ready. */
  agent: string;
  close(): Promise<void>;
}

/** Starts everything: 1,002 nodes, on one of which the network is not ready, and two replicas by the overlay strict. */
export async function setTheStage(): Promise<Stage> {
  // new nodes come without the taint that a controller would have to take away
  const untainted = ['--disable-admission-plugins=TaintNodesByCondition'];
  // a machine of its own: what the attack costs the scheduler and this process must not keep the API server waiting
  const group = new ControlGroup('control-plane');
  // by default a scheduler sends 50 requests a second: more pods than that are made here, and a queue would grow
  const fast = ['--kube-api-qps=1000', '--kube-api-burst=1000'];
  const cluster = await Cluster.start({
    flags: { 'kube-apiserver': untainted, 'kube-scheduler': fast },
    enclose: (name, command) =>
      name === 'etcd' || name === 'kube-apiserver' ? group.inside(command) : command,
  });
  const { api } = cluster;
  const capacity = { cpu: '1000', memory: '1000Gi', pods: '10000' };
  const labels = { [networkLabel]: network.name };
  for (const name of [broken, spare, other]) await addNode(cluster, name, { capacity, labels });
  await apply(cluster, 'strict');
  await cluster.apply(networkDaemonSet);
  const pods = await runningPods(cluster, 2);
  const replicas = await Promise.all(pods.map((pod) => Replica.start(cluster, pod)));
  await endpoints(cluster, 2);
  await trusted(cluster);
  await Promise.all([
    // no process of any kind stands for them
    ...Array.from({ length: fillers }, (_, index) =>
      api.post('/api/v1/nodes', nodeObject(`filler-${index}`, { kwok: false, capacity: filling })),
    ),
    makeNamespace(cluster, innocent, { [profileLabel]: 'cilium' }),
    makeNamespace(cluster, optedIn, { [profileLabel]: 'cilium' }),
    makeNamespace(cluster, outside),
  ]);
  const agent = await agentOn(api, broken);
  await Promise.all([agentOn(api, spare), agentOn(api, other)]);
  const status = { conditions: [{ type: 'Ready', status: 'False' }] };
  await api.patch(`${podsOf(network.namespace)}/${agent}/status`, { status });
  return {
    cluster,
    api,
    replicas,
    agent,
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.close()));
      await cluster.stop();
      await group.remove();
    },
  };
}

async function agentOn(api: Api, node: string): Promise<string> {
  const { metadata } = await api.until<{ metadata: { name: string }; status: { phase: string } }>(
    `${podsOf(network.namespace)}?labelSelector=app%3D${network.name}&fieldSelector=spec.nodeName%3D${node}`,
    ({ status }) => status.phase === 'Running',
  );
  return metadata.name;
}
