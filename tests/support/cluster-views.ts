import type { ClusterView } from '../../webhook/admission/gate/cluster-view.ts';
import type { Namespaces } from '../../webhook/admission/namespaces.ts';
import { viewOfFlag } from '../../webhook/cluster/view/from-file.ts';

/** A cluster of which nothing is known but what these namespaces say. */
export const viewOf = (namespaces: Namespaces, more: Partial<ClusterView> = {}): ClusterView => ({
  ...viewOfFlag(undefined),
  namespaces,
  ...more,
});
