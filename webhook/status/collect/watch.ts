import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterMetrics } from '../../kubernetes/metrics.ts';
import { ReflectorSet, Reflectors } from '../../kubernetes/reflector/reflectors.ts';
import type { WebhookKind } from '../../kubernetes/webhook-configurations.ts';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { watchGate } from '../../view/watch-nodes.ts';
import type { HeldPodFacts, PodEvent, PodFacts, Registered, StatusFacts } from '../facts.ts';
import type { InstallationFacts } from '../installation/facts.ts';
import { HeldPods } from './held-pods.ts';
import { readInstallation } from './installation.ts';
import { podEvents } from './pod-events.ts';
import { ClusterReader } from './reader.ts';
import { optInSource, podSources, registeredSource, type StatusPodObject, type Wanted } from './sources.ts';

/** What a status is made of, kept by watches. */
export interface StatusWatch {
  /** What is known now; undefined until everything was listed once. */
  facts(): StatusFacts | undefined;
  close(): Promise<void>;
}

/**
 * Starts to watch everything that a status is made of. It waits through outages, and logs them.
 *
 * @param first what was listed before: what could not be read then is not asked for again
 */
export function watchStatus(
  client: ApiClient,
  wanted: Wanted,
  first: Pick<StatusFacts, 'registered' | 'scheduler' | 'installation' | keyof HeldPodFacts>,
  log: Log,
): StatusWatch {
  const { policy, ownNamespace } = wanted;
  const { registered, scheduler } = first;
  // nobody asks for them: a command has no port
  const inside = { metrics: new ClusterMetrics(new Registry()), log };
  const gate = watchGate(client, () => policy, inside);
  const reflectors = new Reflectors(client, inside);
  const namespaces = reflectors.start(optInSource(wanted.namespace));
  const pods = new ReflectorSet<StatusPodObject, PodFacts>(reflectors);
  namespaces.subscribe(() => pods.watch(podSources(namespaces.store.list(), wanted)));
  const webhooks = (kind: WebhookKind) =>
    registered[kind] === undefined ? undefined : reflectors.start(registeredSource(kind));
  const [mutating, validating] = [webhooks('mutating'), webhooks('validating')];
  const foundBy = (reflector: typeof mutating): Registered['mutating'] =>
    reflector && [...reflector.store.list()].flat();
  const webhooksSynced = (): boolean => [mutating, validating].every((one) => one?.synced !== false);
  const found = (): Registered =>
    webhooksSynced() ? { mutating: foundBy(mutating), validating: foundBy(validating) } : registered;
  const synced = (): boolean =>
    namespaces.synced && webhooksSynced() && gate.unsynced() === undefined && pods.unsynced().length === 0;
  const ended = new AbortController();
  const reader = new ClusterReader(client, ended.signal);
  const read = (): Promise<InstallationFacts> =>
    readInstallation(reader, { registered: found(), ownNamespace });
  const installation = poll(read, first.installation, log, ended.signal);
  const held = new HeldPods(reader, first);
  const ofPods = (): Promise<Map<string, PodEvent>> => podEvents(reader, { pods: pods.list() });
  const events = poll(ofPods, new Map<string, PodEvent>(), log, ended.signal);
  return {
    facts: () => {
      if (!synced()) return undefined;
      const known = {
        policy,
        readiness: gate.readiness,
        registered: found(),
        installation: installation.latest(),
        scheduler,
        namespaces: namespaces.store.list(),
        partial: wanted.namespace !== undefined,
        pods: [...pods.list()],
      };
      held.keep(known);
      const podEvent = (uid: string): PodEvent | undefined => events.latest().get(uid);
      return { ...known, ...held.knowledge, podEvent };
    },
    close: async () => {
      ended.abort();
      await Promise.all([gate.close(), reflectors.close(), installation.over, events.over]);
    },
  };
}

/** Milliseconds between two readings: of the installation, a dozen small requests each. */
const interval = 5000;

/**
 * Reads something every few seconds, for single objects: a watch for each would need more rights and connections. The
 * log reports an outage once, and what was read before it stays.
 *
 * @param first what was read before
 */
function poll<T>(
  read: () => Promise<T>,
  first: T,
  log: Log,
  signal: AbortSignal,
): { latest: () => T; over: Promise<void> } {
  let latest = first;
  let logged: string | undefined;
  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(interval, undefined, { signal });
      try {
        latest = await read();
        logged = undefined;
      } catch (error) {
        signal.throwIfAborted();
        const message = `${messageOf(error)}; it is tried again`;
        if (message !== logged) log.warn({ err: error }, message);
        logged = message;
      }
    }
  };
  // it ends by the signal alone
  return { latest: () => latest, over: run().catch(() => {}) };
}
