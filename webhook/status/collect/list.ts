import type { ApiClient } from '../../kubernetes/client.ts';
import { listAll } from '../../kubernetes/reflector/list-all.ts';
import { defaultTiming } from '../../kubernetes/reflector/next-step.ts';
import type { ApiObject, Source } from '../../kubernetes/reflector/source.ts';
import type { WebhookKind } from '../../kubernetes/webhook-configurations.ts';
import { Readiness } from '../../readiness/readiness.ts';
import { agentSources, type DaemonSetSnapshot, daemonSetSources, nodeSource } from '../../view/sources.ts';
import type { PodFacts, Registered, StatusFacts } from '../facts.ts';
import { HeldPods } from './held-pods.ts';
import { readInstallation } from './installation.ts';
import { ifAllowed, registeredSource, schedulerFacts } from './registered.ts';
import { optInSource, podSources } from './sources.ts';
import { checkFound, type Wanted } from './wanted.ts';

/** Namespaces whose pods are asked for at a time. */
const atATime = 4;

/**
 * Lists everything that a status is made of, once.
 *
 * @throws CniGateError where the cluster does not answer, a right is missing, or the namespace does not exist
 */
export async function listStatus(client: ApiClient, wanted: Wanted): Promise<StatusFacts> {
  const { policy, ownNamespace } = wanted;
  // one that fails ends the others
  const stop = new AbortController();
  const options = { timeout: defaultTiming.answer, signal: stop.signal, onPage: () => {} };
  const list = async <O extends ApiObject, T>(source: Source<O, T>): Promise<T[]> => {
    const { entries } = await listAll(client, source, options);
    return Array.from(entries, ({ object }) => object);
  };
  const listDaemonSets = async (): Promise<DaemonSetSnapshot[]> => {
    const found: DaemonSetSnapshot[] = [];
    await eachOf(daemonSetSources(policy).values(), async (source) => {
      found.push(...(await list(source)));
    });
    return found;
  };
  const webhooks = async (kind: WebhookKind): Promise<Registered['mutating']> => {
    const found = await ifAllowed(list(registeredSource(kind)));
    return found?.flat();
  };
  const installed = async (): Promise<Pick<StatusFacts, 'registered' | 'installation'>> => {
    const [mutating, validating] = await Promise.all([webhooks('mutating'), webhooks('validating')]);
    const registered = { mutating, validating };
    const installation = await readInstallation(client, { registered, ownNamespace }, stop.signal);
    return { registered, installation };
  };
  const readiness = new Readiness();
  try {
    const [namespaces, nodes, daemonSets, { registered, installation }, scheduler] = await Promise.all([
      list(optInSource(wanted.namespace)),
      list(nodeSource),
      listDaemonSets(),
      installed(),
      ifAllowed(schedulerFacts(client, stop.signal)),
    ]);
    checkFound(wanted, namespaces);
    for (const facts of nodes) readiness.apply({ kind: 'node', facts, listed: true }, Date.now());
    for (const { facts } of daemonSets) readiness.apply({ kind: 'daemonset', facts }, Date.now());
    await eachOf(agentSources(daemonSets, policy).values(), async (source) => {
      for (const facts of await list(source)) readiness.apply({ kind: 'agent', facts }, Date.now());
    });
    const pods: PodFacts[][] = [];
    await eachOf(podSources(namespaces, wanted).values(), async (source) => {
      pods.push(await list(source));
    });
    const facts = {
      policy,
      readiness,
      registered,
      installation,
      scheduler,
      namespaces,
      pods: pods.flat(),
    };
    const held = new HeldPods(client, stop.signal);
    await held.learn(facts);
    return { ...facts, ...held.knowledge };
  } finally {
    stop.abort();
  }
}

/** Does it for each, some at a time: as many requests as one likes would wait for each other at the API server. */
async function eachOf<T>(rest: IterableIterator<T>, work: (value: T) => Promise<void>): Promise<void> {
  const worker = async (): Promise<void> => {
    // all take from the same iterator: what one has, no other gets
    for (const value of rest) await work(value);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
