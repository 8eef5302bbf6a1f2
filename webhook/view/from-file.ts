import { FixedNamespaces } from '../admission/namespaces.ts';
import { Evidence, noEvidence, type PodChange } from '../evidence/evidence.ts';
import type { ClusterView } from '../gate/cluster-view.ts';
import { LiveFiles, type ReloadListener } from '../lib/live-files.ts';
import { Readiness } from '../readiness/readiness.ts';
import { type ClusterState, parseClusterState } from './cluster-state.ts';

/**
 * A cluster that a file of Kubernetes objects describes. The file is reloaded when it changes.
 *
 * @param profile of every namespace, instead of its label
 * @throws CniGateError CNI_GATE_STATE_INVALID
 */
export function viewOfFile(file: string, profile: string | undefined, listener: ReloadListener): ClusterView {
  const readiness = new Readiness();
  const evidence = new Evidence();
  evidence.markSynced();
  const subscribers = new Set<() => void>();
  const read = ([text = '']: string[]) => {
    const state = parseClusterState(text, file);
    return { state, namespaces: new FixedNamespaces(state.namespaces, profile, state.namespaceAnnotations) };
  };
  const files = new LiveFiles({
    ...listener,
    paths: [file],
    unreadable: 'CNI_GATE_STATE_INVALID',
    parse: read,
    onReload: ({ state }) => {
      update(readiness, before, state);
      updateEvidence(evidence, before, state);
      before = state;
      for (const changed of subscribers) changed();
      listener.onReload();
    },
  });
  let before = files.value.state;
  update(readiness, undefined, before);
  updateEvidence(evidence, undefined, before);
  return {
    get namespaces() {
      return files.value.namespaces;
    },
    readiness,
    evidence,
    pods: {
      pod: (namespace, name, uid) => {
        const found = files.value.state.pending.get(`${namespace}/${name}`);
        return found !== undefined && (uid === '' || found.uid === uid) ? found : undefined;
      },
    },
    pending: () => files.value.state.pending.values(),
    subscribe: (changed) => {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
    unsynced: () => undefined,
    notSynced: () => false,
    notObservedSince: () => false,
    whenSynced: async () => {},
    unready: () => undefined,
    policyChanged: () => {},
    close: async () => files.close(),
  };
}

/** No cluster: every namespace has the profile of the flag, and no node is known. */
export function viewOfFlag(profile: string | undefined): ClusterView {
  return {
    namespaces: new FixedNamespaces(new Map(), profile),
    readiness: new Readiness(),
    evidence: noEvidence,
    pods: { pod: () => undefined },
    pending: () => [],
    subscribe: () => () => {},
    unsynced: () => 'no cluster is watched',
    notSynced: () => true,
    notObservedSince: () => true,
    whenSynced: () => new Promise(() => {}),
    unready: () => undefined,
    policyChanged: () => {},
    close: async () => {},
  };
}

/** Applies the difference between two states of the file, as watch events would. */
function update(readiness: Readiness, before: ClusterState | undefined, now: ClusterState): void {
  for (const name of before?.nodes.keys() ?? []) {
    if (!now.nodes.has(name)) readiness.apply({ kind: 'node-gone', name }, Date.now());
  }
  for (const [key, { namespace, name }] of before?.daemonSets ?? []) {
    if (!now.daemonSets.has(key)) readiness.apply({ kind: 'daemonset-gone', namespace, name }, Date.now());
  }
  for (const uid of before?.agents.keys() ?? []) {
    if (!now.agents.has(uid)) readiness.apply({ kind: 'agent-gone', uid }, Date.now());
  }
  for (const facts of now.nodes.values()) readiness.apply({ kind: 'node', facts, listed: true }, Date.now());
  for (const facts of now.daemonSets.values()) readiness.apply({ kind: 'daemonset', facts }, Date.now());
  for (const facts of now.agents.values()) readiness.apply({ kind: 'agent', facts }, Date.now());
}

/** The same for what pods found out. */
function updateEvidence(evidence: Evidence, before: ClusterState | undefined, now: ClusterState): void {
  for (const [name, { bootID, version }] of now.nodes) {
    const last = before?.nodes.get(name)?.bootID ?? '';
    if (last !== '' && bootID !== '' && last !== bootID) evidence.booted(name, version);
  }
  const gone = [...(before?.placed.keys() ?? [])].filter((uid) => !now.placed.has(uid));
  const changes: PodChange[] = [
    ...gone.map((uid): PodChange => ({ type: 'gone', uid })),
    ...Array.from(
      now.placed.values(),
      (pod): PodChange => ({ type: 'put', pod, listed: before === undefined }),
    ),
  ];
  evidence.apply(changes, Date.now());
}
