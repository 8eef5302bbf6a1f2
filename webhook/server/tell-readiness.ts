import type { FastifyBaseLogger } from 'fastify';
import type { Policy } from '../config/policy.ts';
import { countStates } from '../readiness/count.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/**
 * Logs once what is known of the nodes, when all was listed: how many, and how many are in which state for each
 * DaemonSet of the profiles that exists. Later it is for `/metrics` and `status` to tell.
 */
export async function tellReadiness(
  log: FastifyBaseLogger,
  policy: () => Policy,
  { readiness, whenSynced }: Pick<ClusterView, 'readiness' | 'whenSynced'>,
): Promise<void> {
  await whenSynced();
  const { profiles, gate } = policy();
  const now = Date.now();
  const refs = [...profiles.values()].flatMap(({ daemonSets }) => daemonSets);
  const counted = refs.flatMap((ref) => {
    const counts = countStates(readiness, ref, now, gate.startupGrace);
    if (counts === undefined) return [];
    const some = Object.entries(counts).filter(([, nodes]) => nodes > 0);
    return [[`${ref.namespace}/${ref.name}`, Object.fromEntries(some)] as const];
  });
  const nodes = [...readiness.nodes()].length;
  log.info({ nodes, daemonSets: Object.fromEntries(counted) }, 'nodes and DaemonSets are known');
}
