import type { ClusterView } from '../../core/cluster-view.ts';
import type { ApiDaemonSet, ApiNode, ApiPod } from '../../core/facts/api.ts';
import { FixedNamespaces } from '../../core/facts/namespace.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../core/facts/node.ts';
import { type PendingPod, toPendingPod } from '../../core/facts/pending-pod.ts';
import { evidencePick } from '../../core/facts/to-pod-evidence.ts';
import { Evidence, noEvidence } from '../../core/networks/evidence.ts';
import { Holds } from '../../core/networks/holds.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import { Reservations } from '../../core/networks/reservations.ts';
import { CniGateError } from '../../lib/errors.ts';
import { isObject } from '../../lib/json.ts';
import { LiveFiles, type ReloadListener } from '../../lib/live-files.ts';
import { getOwn } from '../../lib/maps.ts';
import { nameOf, profileLabel } from '../../lib/names.ts';
import { readYaml, YamlError } from '../../lib/yaml.ts';
import type { ApiObject } from '../informer/object.ts';

/**
 * The view of a cluster that a file of Kubernetes objects describes. When the file changes, only the gate's holds and
 * reservations are kept.
 * @param profile if given, replaces the label of every namespace
 * @throws CniGateError CNI_GATE_STATE_INVALID
 */
export function viewOfFile(file: string, profile: string | undefined, listener: ReloadListener): ClusterView {
  const holds = new Holds();
  const reservations = new Reservations();
  const files = new LiveFiles({
    ...listener,
    paths: [file],
    unreadable: 'CNI_GATE_STATE_INVALID',
    parse: ([text = '']: string[]) => {
      const state = parseClusterState(text, file, new Evidence(undefined, reservations));
      for (const pod of state.pending.values()) holds.observe(pod, true, Date.now());
      return state;
    },
  });
  return Object.assign(
    viewOf(() => files.value, profile, holds),
    { close: async () => files.close() },
  );
}

/** The view without a cluster: all namespaces have the profile, and no nodes are known. */
export function viewOfFlag(profile: string | undefined): ClusterView {
  const state = { ...emptyState(new Evidence()), evidence: noEvidence };
  return Object.assign(
    viewOf(() => state, profile, new Holds()),
    { unsynced: () => 'no cluster is watched', notSynced: () => true },
  );
}

/** A view without watches. It is complete from the start. */
function viewOf(
  state: () => Omit<ClusterState, 'evidence'> & Pick<ClusterView, 'evidence'>,
  profile: string | undefined,
  holds: Holds,
): ClusterView {
  return {
    get namespaces() {
      const { namespaces, namespaceAnnotations } = state();
      return new FixedNamespaces(namespaces, profile, namespaceAnnotations);
    },
    get readiness() {
      return state().readiness;
    },
    get evidence() {
      return state().evidence;
    },
    pods: {
      pod: (namespace, name, uid) => {
        const found = state().pending.get(nameOf({ namespace, name }));
        return found !== undefined && (uid === '' || found.uid === uid) ? found : undefined;
      },
    },
    holds,
    pending: () => Array.from(state().pending.values(), (pod) => holds.of(pod)),
    subscribe: () => () => {},
    unsynced: () => undefined,
    notSynced: () => false,
    unready: () => undefined,
    policyChanged: () => {},
    close: async () => {},
  };
}

const emptyState = (evidence: Evidence) => ({
  namespaces: new Map<string, Record<string, string>>(),
  namespaceAnnotations: new Map<string, Record<string, string>>(),
  readiness: new Readiness(),
  evidence,
  /** Pods that wait for a node, by `namespace/name`. */
  pending: new Map<string, PendingPod>(),
});
type ClusterState = ReturnType<typeof emptyState>;

/**
 * Reads YAML documents, and Lists as `kubectl get -o yaml` writes them. Objects of other kinds are ignored.
 * @param file only for messages
 * @throws CniGateError CNI_GATE_STATE_INVALID
 */
export function parseClusterState(text: string, file: string, evidence = new Evidence()): ClusterState {
  const state = emptyState(evidence);
  state.evidence.markSynced();
  for (const value of valuesIn(text, file)) {
    for (const object of objectsOf(value)) add(state, object, file);
  }
  return state;
}

function valuesIn(text: string, file: string): unknown[] {
  try {
    return readYaml(text).map(({ value }) => value);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw invalid(`${file}:${error.line}:${error.column}: not YAML: ${error.message}`);
  }
}

const invalid = (message: string): CniGateError => new CniGateError('CNI_GATE_STATE_INVALID', message);

type KubernetesObject = Record<string, unknown>;

function objectsOf(value: unknown): KubernetesObject[] {
  if (!isObject(value)) return [];
  return Array.isArray(value.items) ? value.items.filter(isObject) : [value];
}

function add(state: ClusterState, object: KubernetesObject, file: string): void {
  const { kind } = object;
  if (kind !== 'Namespace' && kind !== 'Node' && kind !== 'DaemonSet' && kind !== 'Pod') return;
  const name = identified(object, kind, file);
  try {
    adders[kind](state, object, name);
  } catch {
    throw invalid(`${file}: ${kind} ${name} does not have the form that the API server writes`);
  }
}

const pick = evidencePick();

const adders = {
  Namespace({ namespaces, namespaceAnnotations }: ClusterState, object: unknown, name: string): void {
    const { labels, annotations } = (object as ApiObject).metadata;
    namespaces.set(name, stringsOf(labels));
    namespaceAnnotations.set(name, stringsOf(annotations));
  },
  Node({ readiness }: ClusterState, object: unknown): void {
    readiness.setNode(toNodeFacts(object as ApiNode), Date.now());
  },
  DaemonSet({ readiness }: ClusterState, object: unknown): void {
    readiness.setDaemonSet(toDaemonSetFacts(object as ApiDaemonSet));
  },
  Pod({ readiness, evidence, pending }: ClusterState, object: unknown): void {
    const pod = object as ApiPod;
    const agent = toAgentFacts(pod);
    if (agent.node === '') return void pending.set(nameOf(agent), toPendingPod(pod));
    if (agent.owner !== '') readiness.setAgent(agent);
    if (getOwn(pod.metadata.labels, profileLabel) === undefined) return;
    evidence.apply([{ type: 'put', pod: pick(pod), listed: true }], Date.now());
  },
};

/** Returns the name of an object, and adds metadata that a file may leave out. */
function identified(object: KubernetesObject, kind: string, file: string): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { name } = metadata;
  if (typeof name !== 'string' || name === '') throw invalid(`${file}: a ${kind} has no metadata.name`);
  metadata.uid ??= `${kind}/${String(metadata.namespace ?? '')}/${name}`;
  metadata.resourceVersion ??= '';
  metadata.creationTimestamp ??= new Date(0).toISOString();
  return name;
}

/** The values as strings. Like the API server, reads null as an empty string. */
const stringsOf = (map: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(map ?? {}).map(([key, value]) => [key, String(value ?? '')]));
