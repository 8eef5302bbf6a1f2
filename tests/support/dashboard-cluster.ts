import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../webhook/core/facts/node.ts';
import { Readiness } from '../../webhook/core/networks/readiness.ts';
import { type Dashboard, dashboardOf } from '../../webhook/report/dashboard/data.ts';
import { type AgentOptions, apiAgent, apiDaemonSet, apiNode, now } from '../unit/core/networks/objects.ts';
import { configured, daemonSet, found } from '../unit/report/objects.ts';
import { troubled } from '../unit/report/troubled.ts';

const networks = ['linkerd', 'cilium', 'multus'];
const configuration = configured({
  profiles: networks.map((name) => ({ name, daemonSets: [{ namespace: 'net', name }] })),
});
const pools = ['general', 'general-spot', 'gpu', 'ingress', 'batch'];

const nodeName = (index: number): string =>
  `ip-10-${Math.floor(index / 250) + 20}-${index % 250}-17.eu-west-1`;

/** The DaemonSets' pods that are not ready, by network and index of the node; `absent` if there is no pod. */
const troubles: Record<string, AgentOptions | 'absent'> = {
  'linkerd 1': { ready: false, waiting: 'CrashLoopBackOff' },
  'cilium 0': { ready: false, waiting: 'ContainerCreating', createdAt: new Date(now - 40_000).toISOString() },
  'multus 2': 'absent',
};

/** The dashboard of a cluster with {@link troubles}. @param count the number of nodes, three or more */
export function dashboardOfNodes(count: number): Dashboard {
  const readiness = new Readiness();
  for (const name of networks) readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet(name)));
  for (let index = 0; index < count; index += 1) {
    const name = nodeName(index);
    const labels = { 'eks.amazonaws.com/nodegroup': pools[index % pools.length] ?? '' };
    readiness.setNode({ ...toNodeFacts(apiNode(name, 'boot', index + 1)), labels }, now);
    for (const network of networks) {
      const trouble = troubles[`${network} ${index}`] ?? {};
      if (trouble === 'absent') continue;
      const agent = apiAgent(name, { name: `${network}-${index}`, owner: network, ...trouble });
      readiness.setAgent(toAgentFacts(agent));
    }
  }
  const namespaces = found([{ name: 'shop', profile: networks.join('.') }]);
  const daemonSets = found(networks.map((name) => daemonSet('net', name)));
  return dashboardOf(troubled({ configuration, readiness: found(readiness), namespaces, daemonSets }));
}
