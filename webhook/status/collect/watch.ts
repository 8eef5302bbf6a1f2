import { Registry } from 'prom-client';
import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterMetrics } from '../../kubernetes/metrics.ts';
import { Reflecting } from '../../kubernetes/reflector/reflecting.ts';
import { Reflections } from '../../kubernetes/reflector/reflections.ts';
import type { WebhookKind } from '../../kubernetes/webhook-configurations.ts';
import type { Log } from '../../lib/deps.ts';
import { watchGate } from '../../view/watch-nodes.ts';
import type { HeldPodFacts, PodFacts, Registered, StatusFacts } from '../facts.ts';
import { HeldPods } from './held-pods.ts';
import { pollInstallation } from './poll.ts';
import { registeredSource } from './registered.ts';
import { optInSource, podSources, type StatusPodObject } from './sources.ts';
import type { Wanted } from './wanted.ts';

/** What a status is made of, kept by watches. */
export interface StatusWatch {
  /** What is known now; undefined until everything was listed once. */
  facts(): StatusFacts | undefined;
  close(): Promise<void>;
}

/**
 * Begins to watch everything that a status is made of. Outages are waited for, and told to the log.
 *
 * @param first what was listed before: what could not be read then is not asked for again
 */
export function watchStatus(
  client: ApiClient,
  wanted: Wanted,
  first: Pick<StatusFacts, 'registered' | 'scheduler' | 'installation' | keyof HeldPodFacts>,
  log: Log,
): StatusWatch {
  const { policy } = wanted;
  const { registered, scheduler } = first;
  // nobody asks for them: a command has no port
  const inside = { metrics: new ClusterMetrics(new Registry()), log };
  const gate = watchGate(client, () => policy, inside);
  const reflecting = new Reflecting(client, inside);
  const namespaces = reflecting.start(optInSource(wanted.namespace));
  const pods = new Reflections<StatusPodObject, PodFacts>((source) => reflecting.startOne(source));
  namespaces.subscribe(() => pods.watch(podSources(namespaces.store.list(), wanted)));
  const webhooks = (kind: WebhookKind) =>
    registered[kind] === undefined ? undefined : reflecting.start(registeredSource(kind));
  const [mutating, validating] = [webhooks('mutating'), webhooks('validating')];
  const foundBy = (reflector: typeof mutating): Registered['mutating'] =>
    reflector && [...reflector.store.list()].flat();
  const found = (): Registered => ({ mutating: foundBy(mutating), validating: foundBy(validating) });
  const polled = pollInstallation(client, {
    ownNamespace: wanted.ownNamespace,
    registered: () => (webhooksSynced() ? found() : registered),
    first: first.installation,
    log,
  });
  const webhooksSynced = (): boolean => [mutating, validating].every((one) => one?.synced !== false);
  const synced = (): boolean =>
    namespaces.synced && webhooksSynced() && gate.unsynced() === undefined && pods.unsynced().length === 0;
  const ended = new AbortController();
  const held = new HeldPods(client, ended.signal, first);
  return {
    facts: () => {
      if (!synced()) return undefined;
      const known = {
        policy,
        readiness: gate.readiness,
        registered: found(),
        installation: polled.facts(),
        scheduler,
        namespaces: namespaces.store.list(),
        pods: [...pods.list()],
      };
      held.keep(known);
      return { ...known, ...held.knowledge };
    },
    close: async () => {
      ended.abort();
      await Promise.all([gate.close(), reflecting.close(), polled.close()]);
    },
  };
}
