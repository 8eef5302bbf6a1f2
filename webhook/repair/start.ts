import type { ApiClient } from '../kubernetes/client.ts';
import type { Deps } from '../lib/deps.ts';
import { RepairMetrics } from './metrics.ts';
import { Repairing } from './repairing.ts';
import type { RepairOptions } from './rounds.ts';

/**
 * Recreates pods whose proof failed while this process leads.
 *
 * @returns stops it, when the deletions that were begun have ended
 */
export function startRepair(
  client: ApiClient,
  inputs: Omit<RepairOptions, 'metrics' | 'log'>,
  { registry, log }: Pick<Deps, 'registry' | 'log'>,
): () => Promise<void> {
  const ended = new AbortController();
  const repairing = new Repairing(client, { ...inputs, metrics: new RepairMetrics(registry), log });
  const running = repairing.run(ended.signal);
  return async () => {
    ended.abort();
    await running;
  };
}
