import { viewOfFlag } from '../../webhook/cluster/view/from-file.ts';
import type { ClusterView } from '../../webhook/core/cluster-view.ts';
import type { Namespaces } from '../../webhook/core/facts/namespace.ts';

/** A cluster of which nothing is known but what these namespaces say. */
export const viewOf = (namespaces: Namespaces, more: Partial<ClusterView> = {}): ClusterView => ({
  ...viewOfFlag(undefined),
  namespaces,
  ...more,
});
