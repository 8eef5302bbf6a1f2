import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../webhook/core/facts/node.ts';
import { Readiness } from '../../webhook/core/networks/readiness.ts';
import { type Dashboard, dashboardOf } from '../../webhook/report/dashboard/data.ts';
import type { StatusFacts } from '../../webhook/report/observe/observe.ts';
import type { PodFacts } from '../../webhook/report/observe/pods.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../unit/core/networks/objects.ts';
import {
  configured,
  daemonSet,
  deployment,
  evidenceOf,
  found,
  holdOf,
  statusFacts,
  wholeInstallation,
} from '../unit/report/objects.ts';

const networks = ['cilium', 'linkerd', 'multus'];
const configuration = configured({
  profiles: networks.map((name) => ({ name, daemonSets: [{ namespace: 'net', name }] })),
});
const zones = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];
const groups = ['general', 'general-spot', 'gpu', 'ingress', 'batch'];
const timeText = (time: number): string => new Date(time).toISOString();

export const nodeName = (index: number): string =>
  `ip-10-${Math.floor(index / 250) + 20}-${index % 250}-17.eu-west-1`;

/** A cluster with an example of everything that a dashboard shows. @param count the number of nodes */
export function clusterFacts(count: number): StatusFacts {
  const readiness = new Readiness();
  for (const name of networks) readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet(name)));
  for (let index = 0; index < count; index += 1) addNode(readiness, index, count);
  const nodes = (index: number): string => nodeName(index % count);
  const passed = Array.from({ length: count * 4 }, (_, index): PodFacts => {
    const name = `web-${(index * 7919).toString(36)}`;
    const node = nodes(index);
    // most of the proofs are from the last hours, as in a rollout that comes in waves
    const age = ((index * 37) % 330) * 60_000 * (index % 3 === 0 ? 0.25 : 1);
    const evidence = evidenceOf(name, {
      namespace: 'shop',
      node,
      profiles: ['cilium'],
      at: now - age - 5_000,
    });
    return { namespace: 'shop', name, node, proof: 'passed', evidence };
  });
  const some = (share: number, least: number): number => Math.max(least, Math.round(count * share));
  const failed = Array.from({ length: some(0.006, 2) }, (_, index): PodFacts => {
    const name = `checkout-7c9d${index}-x${index}`;
    const at = now - (index % 40) * 300_000 - 180_000;
    const evidence = evidenceOf(name, {
      namespace: 'payments',
      node: nodes(index * 3),
      profiles: ['linkerd'],
      failedProfiles: ['linkerd'],
      verdict: 'failed',
      at,
      startedAt: at - 10_000,
    });
    const seen = 'linkerd redirect IPv4 not-redirected: saw no answer from 192.0.2.2:1404';
    return { namespace: 'payments', name, node: nodes(index * 3), proof: 'failed', evidence, seen };
  });
  const held = Array.from({ length: some(0.008, 2) }, (_, index): PodFacts => {
    const name = `orders-${index}`;
    const more = {
      refused: nodes(index * 11 + 1),
      since: now - 30_000 - index * 20_000,
      nominated: index % 3 === 0 ? '' : nodes(index * 5 + 3),
      why: 'DaemonSet net/cilium is starting there (pod cilium-x2): container cilium-agent is not ready',
    };
    return { namespace: 'payments', name, proof: 'waiting', held: holdOf(name, more) };
  });
  const late = evidenceOf('late-0', {
    node: nodes(2),
    verdict: 'waiting',
    at: now - 95_000,
    hasSandbox: false,
  });
  const twins = ['cache-0', 'cache-1'].map((name, index): PodFacts => {
    const evidence = evidenceOf(name, {
      node: nodes(index),
      at: now - 7_000_000,
      addresses: ['storage-net/10.44.0.17'],
    });
    return { namespace: 'shop', name, node: nodes(index), proof: 'passed', evidence };
  });
  const pods: PodFacts[] = [
    ...passed,
    ...failed,
    ...held,
    ...twins,
    { namespace: 'shop', name: 'late-0', node: nodes(2), proof: 'waiting', evidence: late },
    {
      namespace: 'shop',
      name: 'legacy-0',
      node: nodes(3),
      proof: 'withoutProof',
      withoutProof: 'not-reviewed',
    },
  ];
  const note = 'the proof of its network failed, so it is deleted to be recreated: its node is ready';
  const repair = { at: now, reason: 'Recreated', note, stopped: false };
  const cluster = { context: 'production-eu', server: 'https://10.0.0.1:6443', clientVersion: '0.1.0' };
  return statusFacts({
    cluster: { ...cluster, serverVersion: '0.1.0' },
    configuration,
    readiness,
    daemonSets: found(networks.map((name) => daemonSet('net', name))),
    installation: { ...wholeInstallation, deployment: found(deployment(1)) },
    namespaces: found([
      { name: 'shop', profile: 'cilium.multus' },
      { name: 'payments', profile: 'cilium.linkerd' },
    ]),
    pods,
    events: new Map(failed.flatMap(({ evidence }) => (evidence ? [[evidence.uid, repair]] : []))),
  });
}

/** What is wrong with a network on a node, by the node's number; undefined if nothing is wrong. */
function troubleOf(
  index: number,
  count: number,
  network: string,
): 'starting' | 'broken' | 'absent' | undefined {
  const spread = (index * 7) % Math.max(count, 5);
  if (network === 'cilium' && spread < Math.max(1, count * 0.012)) return 'starting';
  if (network === 'linkerd' && spread > count * 0.5 && spread < count * 0.5 + Math.max(1.5, count * 0.004))
    return 'broken';
  if (network === 'multus' && index % groups.length === 2 && spread % 61 === 5) return 'absent';
  return undefined;
}

function addNode(readiness: Readiness, index: number, count: number): void {
  const name = nodeName(index);
  const labels = {
    'topology.kubernetes.io/zone': zones[index % zones.length] ?? '',
    'eks.amazonaws.com/nodegroup': groups[index % groups.length] ?? '',
  };
  const facts = { ...toNodeFacts(apiNode(name, 'boot', index + 1)), labels };
  readiness.setNode(facts, now);
  for (const [at, network] of networks.entries()) {
    const trouble = troubleOf(index, count, network);
    if (trouble === 'absent') continue;
    const created =
      trouble === 'starting' ? now - 40_000 - index : now - 3_600_000 * (5 + ((index * 13) % 400));
    const agent = apiAgent(name, {
      name: `${network}-${(index * 31 + at).toString(36)}`,
      owner: network,
      ready: trouble === undefined,
      createdAt: timeText(created),
      ...(trouble && { waiting: trouble === 'broken' ? 'CrashLoopBackOff' : 'ContainerCreating' }),
    });
    readiness.setAgent({ ...toAgentFacts(agent), readySince: created });
  }
}

/** The dashboard of these facts, made as the command makes it. */
export const dashboardFrom = (facts: StatusFacts): Dashboard => dashboardOf(facts, now, null);
