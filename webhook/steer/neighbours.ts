import { own } from '../lib/own.ts';
import { type LabelSelector, requirementsOf, requires, selects } from '../scheduling/label-selector.ts';
import type { Requirement } from '../scheduling/requirement.ts';

/** The parts of a pod's spec that {@link pickNeighbours} reads: its hard constraints on other pods. */
export interface ApiNeighbourly {
  topologySpreadConstraints?: (Selecting & { whenUnsatisfiable?: string; maxSkew?: number })[] | null;
  affinity?: { podAntiAffinity?: Apart } | null;
}

interface Selecting {
  topologyKey?: string;
  labelSelector?: LabelSelector | null;
  matchLabelKeys?: string[] | null;
}

type Apart = {
  requiredDuringSchedulingIgnoredDuringExecution?:
    | (Selecting & {
        mismatchLabelKeys?: string[] | null;
        namespaces?: string[] | null;
        namespaceSelector?: object | null;
      })[]
    | null;
} | null;

/** What others look at in a pod on a node. */
export interface PlacedPod {
  namespace: string;
  labels: Readonly<Record<string, string>>;
  /** On its way out. */
  leaving: boolean;
}

/**
 * A pod's hard constraints on the other pods of its namespace on the very node, which the pods of one or two nodes are
 * enough to judge. Constraints on zones would need those of many.
 */
export interface Neighbours {
  /** Of the pods that are selected, a node may have so many more than any other that the pod could go to. */
  spread: { maxSkew: number; selects: Requirement[]; itself: boolean }[];
  /** The pod will not be where any of these is. */
  apart: Requirement[][];
  /** The same for pods that want the same; empty for those that want nothing. */
  kind: string;
}

const host = 'kubernetes.io/hostname';

/** @param labels the pod's own */
export function pickNeighbours(
  { topologySpreadConstraints, affinity }: ApiNeighbourly,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Neighbours {
  const asked = ({ labelSelector, matchLabelKeys }: Selecting): Requirement[] => [
    ...requirementsOf(labelSelector ?? {}),
    ...(matchLabelKeys ?? []).flatMap((key) => {
      const value = own(labels, key);
      return value === undefined ? [] : [requires(key, value)];
    }),
  ];
  // without a selector none is counted: Kubernetes, LabelSelectorAsSelector
  const isHere = ({ topologyKey, labelSelector }: Selecting): boolean =>
    topologyKey === host && Boolean(labelSelector);
  const spread = (topologySpreadConstraints ?? [])
    .filter((one) => isHere(one) && one.whenUnsatisfiable !== 'ScheduleAnyway')
    .map((one) => {
      const requirements = asked(one);
      return { maxSkew: one.maxSkew ?? 1, selects: requirements, itself: selects(requirements, labels) };
    });
  const apart = (affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
    .filter(({ namespaces, namespaceSelector, mismatchLabelKeys }) => {
      const others = (namespaces ?? []).some((name) => name !== namespace);
      return !others && !namespaceSelector && (mismatchLabelKeys ?? []).length === 0;
    })
    .filter(isHere)
    .map(asked);
  const isAny = spread.length + apart.length > 0;
  return { spread, apart, kind: isAny ? JSON.stringify([namespace, spread, apart]) : '' };
}

/** Pods on a node, by UID; undefined where they are not known. */
export type Placed = ReadonlyMap<string, PlacedPod> | undefined;

/**
 * Whether the scheduler would turn a nomination down for sure, for the sake of the pods that are there.
 *
 * The node that the pod was refused for is one that the scheduler chose, so the fewest pods that any node has are no
 * more than it has. Source: Kubernetes, plugins PodTopologySpread, which does not count pods on their way out, and
 * InterPodAffinity, which does.
 *
 * @param there the pods on the node
 * @param refused those on the node that the pod was refused for
 */
export function isUnsatisfiable(
  { neighbours: { spread, apart }, namespace }: { neighbours: Neighbours; namespace: string },
  there: Placed,
  refused: Placed,
): boolean {
  const selected = (placed: Placed, requirements: readonly Requirement[]): PlacedPod[] =>
    [...(placed?.values() ?? [])].filter(
      (pod) => pod.namespace === namespace && selects(requirements, pod.labels),
    );
  if (apart.some((requirements) => selected(there, requirements).length > 0)) return true;
  return spread.some(({ maxSkew, selects: requirements, itself }) => {
    const count = (placed: Placed): number =>
      selected(placed, requirements).filter(({ leaving }) => !leaving).length;
    return count(there) + (itself ? 1 : 0) - count(refused) > maxSkew;
  });
}
