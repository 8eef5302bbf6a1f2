import { viewOfFlag } from '../../webhook/cluster/view/from-file.ts';
import type { ClusterView } from '../../webhook/core/cluster-view.ts';
import type { Namespaces } from '../../webhook/core/facts/namespace.ts';

/** A view of a cluster that knows these namespaces and nothing else. @param more replaces fields */
export const viewOf = (namespaces: Namespaces, more: Partial<ClusterView> = {}): ClusterView => ({
  ...viewOfFlag(undefined),
  namespaces,
  ...more,
});
