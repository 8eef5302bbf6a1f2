import type { ClusterView } from '../admission/gate/cluster-view.ts';
import { viewOfFile, viewOfFlag } from '../cluster/view/from-file.ts';
import type { Policy } from '../config/policy.ts';
import type { Deps } from '../lib/deps.ts';
import { logReadiness, measureEvidence, measureReadiness } from './cluster-metrics.ts';
import { plugin } from './plugin.ts';

/** Options of the plugin {@link cluster}. */
export interface ClusterOptions {
  /** Watches a cluster. It wins over the file and the flag. */
  cluster?: ((policy: () => Policy, deps: Deps) => ClusterView) | undefined;
  /** File of Kubernetes objects that stand for a cluster, reloaded when it changes. */
  clusterState?: string | undefined;
  /** Profile of every namespace, instead of its label. */
  profile?: string | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Decorated by the plugin `cluster`. */
    view: ClusterView;
  }
}

/**
 * What the server knows of a cluster: from watches, from a file or from a flag. Register it after everything that can
 * fail for other reasons: it sends requests to the API server.
 *
 * @throws CniGateError CNI_GATE_STATE_INVALID where the file cannot be used
 */
export const cluster = plugin<ClusterOptions>('cluster', async (app, options) => {
  const { clusterState, profile, deps } = options;
  const { current: policy } = app.policy;
  const view =
    options.cluster?.(policy, deps) ??
    (clusterState === undefined
      ? viewOfFlag(profile)
      : viewOfFile(clusterState, profile, deps.reload('cluster-state')));
  // Fastify runs the hook when the last request is answered: until then the view is read
  app.addHook('onClose', () => view.close());
  app.policy.onChange(() => view.policyChanged());
  deps.ready.push(() => view.unready());
  measureReadiness(deps, policy, view);
  measureEvidence(deps, view);
  void logReadiness(deps, policy, view);
  app.decorate('view', view);
});
