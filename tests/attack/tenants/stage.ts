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

/** How many nodes without the network exist beside the three that have it. */
const fillers = 999;
const filling = { cpu: '64', memory: '256Gi' };

/** A control plane with cni-gate in which hostile tenants may do all that their rights allow. */
export interface Stage {
  cluster: Cluster;
  api: Api;
  replicas: Replica[];
  close(): Promise<void>;
}

/** Sets up 1,002 nodes, one of them with a network that is not ready, and two replicas with the overlay strict. */
export async function setTheStage(): Promise<Stage> {
  // without this plugin, new nodes have no taint that a controller would have to remove
  const untainted = ['--disable-admission-plugins=TaintNodesByCondition'];
  // a control group for etcd and the API server: load on the scheduler and on this process must not slow them down
  const group = new ControlGroup('control-plane');
  // the attacks create more pods than the scheduler's default 50 requests per second can bind, so a queue would grow
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
    // nothing simulates these nodes
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
