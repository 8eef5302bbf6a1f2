import type { ClusterView } from '../../admission/gate/cluster-view.ts';
import { FixedNamespaces } from '../../admission/namespaces.ts';
import { LiveFiles, type ReloadListener } from '../../lib/live-files.ts';
import { noEvidence } from '../../nodes/evidence/evidence.ts';
import { Readiness } from '../../nodes/readiness/readiness.ts';
import { parseClusterState } from './cluster-state.ts';

/**
 * A cluster that a file of Kubernetes objects describes. The file is reloaded when it changes, and nothing of the state
 * before is remembered then.
 *
 * @param profile of every namespace, instead of its label
 * @throws CniGateError CNI_GATE_STATE_INVALID
 */
export function viewOfFile(file: string, profile: string | undefined, listener: ReloadListener): ClusterView {
  const files = new LiveFiles({
    ...listener,
    paths: [file],
    unreadable: 'CNI_GATE_STATE_INVALID',
    parse: ([text = '']: string[]) => {
      const { namespaces, namespaceAnnotations, ...state } = parseClusterState(text, file);
      return { ...state, namespaces: new FixedNamespaces(namespaces, profile, namespaceAnnotations) };
    },
  });
  return {
    ...complete,
    get namespaces() {
      return files.value.namespaces;
    },
    get readiness() {
      return files.value.readiness;
    },
    get evidence() {
      return files.value.evidence;
    },
    pods: {
      pod: (namespace, name, uid) => {
        const found = files.value.pending.get(`${namespace}/${name}`);
        return found !== undefined && (uid === '' || found.uid === uid) ? found : undefined;
      },
    },
    pending: () => files.value.pending.values(),
    close: async () => files.close(),
  };
}

/** No cluster: every namespace has the profile of the flag, and no node is known. */
export function viewOfFlag(profile: string | undefined): ClusterView {
  return {
    ...complete,
    namespaces: new FixedNamespaces(new Map(), profile),
    readiness: new Readiness(),
    evidence: noEvidence,
    pods: { pod: () => undefined },
    pending: () => [],
    unsynced: () => 'no cluster is watched',
    notSynced: () => true,
    notObservedSince: () => true,
    whenSynced: () => new Promise(() => {}),
    close: async () => {},
  };
}

/** What a view without watches answers: all of it is known at once. */
const complete = {
  subscribe: () => () => {},
  unsynced: () => undefined,
  notSynced: () => false,
  notObservedSince: () => false,
  whenSynced: async () => {},
  unready: () => undefined,
  policyChanged: () => {},
};
