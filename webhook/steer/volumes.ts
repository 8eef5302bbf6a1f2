import { type LabelledNode, matchesTerms, type NodeSelectorTerm } from '../scheduling/node-selector.ts';

/** Where the volumes of a pod can be used. */
export interface VolumeConstraints {
  /** Of each PersistentVolume that is not usable everywhere: the terms of which one has to hold. */
  affinities: NodeSelectorTerm[][];
  /** Nodes that claims without a volume were given to already: one is being made there. */
  selected: string[];
}

/** Whether the volumes can be used on a node. */
export function reachesVolumes({ affinities, selected }: VolumeConstraints, node: LabelledNode): boolean {
  return (
    affinities.every((terms) => matchesTerms(terms, node)) && selected.every((name) => name === node.name)
  );
}
