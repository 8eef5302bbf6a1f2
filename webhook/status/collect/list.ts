import type { ApiClient } from '../../kubernetes/client.ts';
import type { WebhookKind } from '../../kubernetes/webhook-configurations.ts';
import { CniGateError } from '../../lib/errors.ts';
import { Readiness } from '../../readiness/readiness.ts';
import { askVersion, usesNominations } from '../../steer/eligibility.ts';
import { agentSources, type DaemonSetSnapshot, daemonSetSources, nodeSource } from '../../view/sources.ts';
import type { PodFacts, Registered, SchedulerFacts, StatusFacts } from '../facts.ts';
import { HeldPods } from './held-pods.ts';
import { readInstallation } from './installation.ts';
import { podEvents } from './pod-events.ts';
import { ClusterReader, eachOf, ifAllowed } from './reader.ts';
import { optInSource, podSources, registeredSource, type Wanted } from './sources.ts';

/**
 * Lists everything that a status is made of, once.
 *
 * @throws CniGateError where the cluster does not answer, a right is missing, or the namespace does not exist
 */
export async function listStatus(client: ApiClient, wanted: Wanted): Promise<StatusFacts> {
  // one that fails ends the others
  const stop = new AbortController();
  try {
    return await listAllOf(new ClusterReader(client, stop.signal), wanted);
  } finally {
    stop.abort();
  }
}

async function listAllOf(reader: ClusterReader, wanted: Wanted): Promise<StatusFacts> {
  const { policy, ownNamespace, namespace } = wanted;
  const [namespaces, nodes, daemonSets, { registered, installation }, scheduler] = await Promise.all([
    reader.list(optInSource(namespace)),
    reader.list(nodeSource),
    listDaemonSets(reader, wanted),
    readAdmission(reader, ownNamespace),
    ifAllowed(readScheduler(reader)),
  ]);
  if (namespace !== undefined && namespaces.length === 0)
    throw new CniGateError('CNI_GATE_CLUSTER_NOT_FOUND', `the cluster has no namespace ${namespace}`);
  const readiness = new Readiness();
  for (const facts of nodes) readiness.apply({ kind: 'node', facts, listed: true }, Date.now());
  for (const { facts } of daemonSets) readiness.apply({ kind: 'daemonset', facts }, Date.now());
  await eachOf(agentSources(daemonSets, policy).values(), async (source) => {
    for (const facts of await reader.list(source)) readiness.apply({ kind: 'agent', facts }, Date.now());
  });
  const pods: PodFacts[][] = [];
  await eachOf(podSources(namespaces, wanted).values(), async (source) => {
    pods.push(await reader.list(source));
  });
  const facts = {
    policy,
    readiness,
    registered,
    installation,
    scheduler,
    namespaces,
    partial: namespace !== undefined,
    pods: pods.flat(),
  };
  const held = new HeldPods(reader);
  const [events] = await Promise.all([podEvents(reader, facts), held.learn(facts)]);
  return { ...facts, ...held.knowledge, podEvent: (uid) => events.get(uid) };
}

async function listDaemonSets(reader: ClusterReader, { policy }: Wanted): Promise<DaemonSetSnapshot[]> {
  const found: DaemonSetSnapshot[] = [];
  await eachOf(daemonSetSources(policy).values(), async (source) => {
    found.push(...(await reader.list(source)));
  });
  return found;
}

/** Reads the webhook configurations, and what they call. @throws ClusterError where the cluster does not answer */
export async function readAdmission(
  reader: ClusterReader,
  ownNamespace: string,
): Promise<Pick<StatusFacts, 'registered' | 'installation'>> {
  const webhooks = async (kind: WebhookKind): Promise<Registered['mutating']> =>
    (await ifAllowed(reader.list(registeredSource(kind))))?.flat();
  const [mutating, validating] = await Promise.all([webhooks('mutating'), webhooks('validating')]);
  const registered = { mutating, validating };
  return { registered, installation: await readInstallation(reader, { registered, ownNamespace }) };
}

async function readScheduler({ client, signal }: ClusterReader): Promise<SchedulerFacts> {
  const version = await askVersion(client, signal);
  return { version: version.gitVersion, goesByNominations: usesNominations(version) };
}
