import type { ClusterView } from '../../core/cluster-view.ts';
import type { ApiDaemonSet, ApiPod } from '../../core/facts/api.ts';
import type { AgentFacts } from '../../core/facts/node.ts';
import { type PendingPod, toPendingPod } from '../../core/facts/pending-pod.ts';
import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import { Evidence, type PodChange } from '../../core/networks/evidence.ts';
import { Holds } from '../../core/networks/holds.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { nameOf } from '../../lib/names.ts';
import { pathBelow } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import { InformerFactory, InformerSet } from '../informer/informer-factory.ts';
import type { InformerDeps } from '../informer/report.ts';
import type { Change } from '../informer/store.ts';
import { defaultLimits, type LookupResult, lookup } from '../lookup.ts';
import {
  agentSources,
  type DaemonSetSnapshot,
  daemonSetSources,
  evidenceSource,
  nodeSource,
  type OptedIn,
  pendingSource,
  podsPath,
} from './sources.ts';

/** `bound` is shorter than the webhook's timeout, so that the answer reaches the API server in time. */
const podLimits = { ...defaultLimits, bound: 2000 };

export type NodesView = Omit<ClusterView, 'namespaces' | 'unready'>;

/**
 * Watches nodes, the DaemonSets that profiles name, the pods of these DaemonSets, and pods with the profile label.
 * @param optedIn the namespaces whose labelled pods are read; all namespaces by default
 */
export function watchGate(
  client: ApiClient,
  policy: () => Policy,
  deps: InformerDeps,
  optedIn?: OptedIn,
): NodesView {
  const informers = new InformerFactory(client, deps);
  const readiness = new Readiness();
  const nodes = informers.start(nodeSource);
  const pending = informers.start(pendingSource(optedIn));
  const evidence = new Evidence((name) => policy().profiles.has(name));
  const placed = informers.start(evidenceSource(optedIn));
  placed.subscribe((changes) => evidence.apply(changes.flatMap(evidenceChanges), Date.now()));
  const holds = new Holds();
  pending.subscribe((changes) => {
    const now = Date.now();
    for (const change of changes) {
      if (change.type !== 'deleted') holds.observe(change.object, change.listed, now);
      else {
        holds.forget(change.uid);
        evidence.reservations.stoppedWaiting(change.uid, now);
      }
    }
  });
  void placed.whenSynced().then(() => evidence.markSynced());
  optedIn?.subscribe(() => {
    pending.relist();
    placed.relist();
  });
  const agents = new InformerSet<ApiPod, AgentFacts>(informers, (changes) => {
    for (const change of changes)
      if (change.type === 'deleted') readiness.removeAgent(change.uid, Date.now());
      else readiness.setAgent(change.object, change.listed);
  });
  const daemonSets = new InformerSet<ApiDaemonSet, DaemonSetSnapshot>(informers, (changes) => {
    for (const change of changes)
      if (change.type === 'deleted') readiness.removeDaemonSet(change.previous.facts);
      else readiness.setDaemonSet(change.object.facts);
    followAgents();
  });
  const followAgents = (): void => agents.watch(agentSources(daemonSets.list(), policy()));
  const follow = (): void => {
    daemonSets.watch(daemonSetSources(policy()));
    followAgents();
  };
  // for each node added after the first list: when it was seen, by performance.now(), and whether it may have existed before
  const added = new Map<string, { at: number; isOld: boolean }>();
  nodes.subscribe((changes) => {
    for (const change of changes) {
      if (change.type === 'deleted') {
        added.delete(change.previous.name);
        readiness.removeNode(change.previous.name);
        evidence.nodeGone(change.previous.name);
        continue;
      }
      const { name, version } = change.object;
      if (readiness.setNode(change.object, Date.now())) evidence.booted(name, version);
      // `synced` is false during the first list
      if (change.type === 'added' && nodes.synced)
        added.set(name, { at: performance.now(), isOld: change.listed || nodes.isBehind });
    }
  });
  follow();
  const looked = (result: LookupResult) => deps.metrics.lookups.inc({ resource: 'pods', result });
  const path = (key: string): string => {
    const [namespace = '', name = ''] = key.split('/');
    return pathBelow(podsPath(namespace), name);
  };
  const ask = lookup({ client, path, pick: toPendingPod }, looked, podLimits);
  void Promise.all([nodes.whenSynced(), daemonSets.whenSynced()]).then(() =>
    deps.log.info({ nodes: nodes.store.size }, 'nodes and DaemonSets are known'),
  );
  return {
    readiness,
    evidence,
    pods: {
      // the informer lists only pods with the profile label, so a pod that it does not know must be requested
      pod(namespace, name, uid) {
        const key = nameOf({ namespace, name });
        const isIt = (pod: PendingPod | undefined): pod is PendingPod =>
          pod !== undefined && (uid === '' || pod.uid === uid);
        const known = pending.store.get(key);
        return isIt(known) ? known : ask(key).then((found) => (isIt(found) ? found : undefined));
      },
    },
    holds,
    pending: () => Array.from(pending.store.list(), (pod) => holds.of(pod)),
    subscribe: (changed) => pending.subscribe((changes) => changed(changes.flatMap(podsOf))),
    unsynced: () => {
      const all = [
        ...(nodes.synced ? [] : [nodes.source.resource]),
        ...daemonSets.unsynced().map((key) => `DaemonSet ${key}`),
        ...agents.unsynced().map((key) => `pods of DaemonSet ${key}`),
      ];
      return all.length === 0 ? undefined : all.join(', ');
    },
    notSynced: (daemonSet) => {
      const key = nameOf(daemonSet);
      const informers = [daemonSets.get(key), agents.get(key)].filter((informer) => informer !== undefined);
      // an object that is too large to read may be the relevant DaemonSet or pod
      return !nodes.synced || informers.some(({ synced, hasTooLarge }) => !synced || hasTooLarge);
    },
    notObservedSince: (daemonSet, name) => {
      const pods = agents.get(nameOf(daemonSet));
      const node = added.get(name);
      // a working watch of the pods reports the pods of a new node in time
      return node !== undefined && node.at >= (pods?.heardAt ?? 0) && (node.isOld || pods?.isBehind === true);
    },
    policyChanged: () => {
      follow();
      evidence.profilesChanged(Date.now());
    },
    close: () => informers.close(),
  };
}

const podsOf = (change: Change<PendingPod>): PendingPod[] => [
  ...(change.type === 'added' ? [] : [change.previous]),
  ...(change.type === 'deleted' ? [] : [change.object]),
];

function evidenceChanges(change: Change<PodEvidence>): PodChange[] {
  return change.type === 'deleted'
    ? [{ type: 'gone', uid: change.uid }]
    : [{ type: 'put', pod: change.object, listed: change.listed }];
}
