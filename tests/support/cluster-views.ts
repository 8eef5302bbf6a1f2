import { viewOfFlag } from '../../webhook/cluster/view/from-file.ts';
import type { ClusterView } from '../../webhook/core/cluster-view.ts';
import type { Namespaces } from '../../webhook/core/facts/namespace.ts';

/** A view of a cluster in which nothing but these namespaces is known. */
export const viewOf = (namespaces: Namespaces, more: Partial<ClusterView> = {}): ClusterView => ({
  ...viewOfFlag(undefined),
  namespaces,
  ...more,
});
