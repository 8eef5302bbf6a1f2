import type { Policy } from '../../config/policy.ts';
import type { PendingPods } from '../../gate/gate.ts';
import { Readiness, type Change as ReadinessChange } from '../../readiness/readiness.ts';
import type { WaitingPod } from '../../steer/waiting.ts';
import type { ApiClient } from '../client.ts';
import { Lookup } from '../lookup.ts';
import type { ClusterMetrics } from '../metrics.ts';
import { type Log, observe } from '../observe.ts';
import type { Source } from '../reflector/list-all.ts';
import type { ApiObject } from '../reflector/object.ts';
import { Reflector, type ReflectorOptions } from '../reflector/reflector.ts';
import type { Change } from '../reflector/store.ts';
import { Agents } from './agents.ts';
import { ClusterPods, podByName } from './cluster-pods.ts';
import { daemonSetSource, nodeSource, pendingSource } from './sources.ts';

/** What the gate goes by, kept by watches. */
export interface WatchedGate {
  readonly readiness: Readiness;
  readonly pods: PendingPods;
  /** Pods of ours that wait for a node, each with all that says where it could go. */
  waiting(): Iterable<WaitingPod>;
  /** Calls back when one of these pods changes, comes or goes. */
  subscribe(changed: () => void): () => void;
  /** What has not been listed yet, for people. */
  unsynced(): string | undefined;
  /** To be called when another policy is in force: it may name other DaemonSets. */
  policyChanged(): void;
  close(): Promise<void>;
}

/** Who is told, and where it is counted. */
export interface Inside {
  metrics: ClusterMetrics;
  log: Log;
}

/** Begins to watch nodes, the profiles' DaemonSets with their pods, and pods of ours that wait for a node. */
export function watchGate(
  client: ApiClient,
  policy: () => Policy,
  { metrics, log }: Inside,
  options: Omit<ReflectorOptions, 'observer'> = {},
): WatchedGate {
  const stop = new AbortController();
  const over: Promise<void>[] = [];
  const reflect = <O extends ApiObject, T>(source: Source<O, T>, signal = stop.signal): Reflector<O, T> => {
    const observer = observe(source.resource, metrics, log);
    const reflector = new Reflector(client, source, { ...options, observer });
    metrics.objects(source.resource, () => reflector.store.size);
    over.push(reflector.run(signal));
    return reflector;
  };

  const readiness = new Readiness();
  const nodes = reflect(nodeSource);
  const daemonSets = reflect(daemonSetSource);
  const pending = reflect(pendingSource);
  const agents = new Agents(
    (source) => {
      const ended = new AbortController();
      const reflector = reflect(source, AbortSignal.any([stop.signal, ended.signal]));
      return {
        get synced() {
          return reflector.synced;
        },
        subscribe: (subscriber) => reflector.subscribe(subscriber),
        list: () => reflector.store.list(),
        stop: () => {
          ended.abort();
          metrics.forget(source.resource);
        },
      };
    },
    (changes) => apply(readiness, changes, agentChange),
  );
  const followDaemonSets = (): void => {
    const named = policy().daemonSets;
    const known = [...daemonSets.store.list()];
    agents.watch(known.filter(({ facts }) => named.has(`${facts.namespace}/${facts.name}`)));
  };
  nodes.subscribe((changes) => apply(readiness, changes, nodeChange));
  daemonSets.subscribe((changes) => {
    apply(readiness, changes, daemonSetChange);
    followDaemonSets();
  });
  return {
    readiness,
    pods: new ClusterPods(
      pending,
      new Lookup(client, podByName, (result) => metrics.lookedUp('pods', result)),
    ),
    waiting: () => pending.store.list(),
    subscribe: (changed) => pending.subscribe(changed),
    unsynced: () => {
      const missing = [nodes, daemonSets].flatMap(({ synced, source }) => (synced ? [] : [source.resource]));
      const all = [...missing, ...agents.unsynced().map((key) => `pods of DaemonSet ${key}`)];
      return all.length === 0 ? undefined : all.join(', ');
    },
    policyChanged: followDaemonSets,
    close: async () => {
      stop.abort();
      await Promise.all(over);
    },
  };
}

function apply<T>(
  readiness: Readiness,
  changes: Change<T>[],
  translate: (change: Change<T>) => ReadinessChange,
): void {
  for (const change of changes) readiness.apply(translate(change));
}

type Of<Name extends 'nodeSource' | 'daemonSetSource'> = Change<
  ReturnType<{ nodeSource: typeof nodeSource.pick; daemonSetSource: typeof daemonSetSource.pick }[Name]>
>;

function nodeChange(change: Of<'nodeSource'>): ReadinessChange {
  return change.type === 'deleted'
    ? { kind: 'node-gone', name: change.previous.name }
    : { kind: 'node', facts: change.object };
}

function daemonSetChange(change: Of<'daemonSetSource'>): ReadinessChange {
  return change.type === 'deleted'
    ? { kind: 'daemonset-gone', namespace: change.previous.facts.namespace, name: change.previous.facts.name }
    : { kind: 'daemonset', facts: change.object.facts };
}

function agentChange(
  change: Parameters<ConstructorParameters<typeof Agents>[1]>[0][number],
): ReadinessChange {
  return change.type === 'deleted'
    ? { kind: 'agent-gone', uid: change.uid }
    : { kind: 'agent', facts: change.object };
}
