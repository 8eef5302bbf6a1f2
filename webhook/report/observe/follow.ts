import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster } from '../../cluster/open.ts';
import { CniGateError } from '../../lib/errors.ts';
import { dashboardLimits } from '../../lib/limits.ts';
import { givenPolicy } from './configuration.ts';
import { observeStatus, type StatusFacts } from './observe.ts';

/** Flags that `status` and `dashboard` have in common. */
export interface StatusFlags {
  kubeconfig?: string;
  context?: string;
  /** Path of a configuration. */
  config?: string;
  ownNamespace: string;
  namespace?: string;
  probe?: true;
}

/** Opens the cluster that the flags name while `use` runs. @throws CniGateError as {@link observeStatus} */
export async function withStatus(
  { kubeconfig, context, config, ownNamespace, namespace, probe }: StatusFlags,
  use: (read: () => Promise<StatusFacts>) => Promise<void>,
): Promise<void> {
  const given = givenPolicy(config);
  const client = await openCluster(kubeconfig, context);
  try {
    await use(() => observeStatus(client, { ownNamespace, given, namespace, probe: probe === true }));
  } finally {
    client.close();
  }
}

/** The pause after a reading is this many times as long as the reading, so the API server is mostly left to others. */
const pauseFactor = 4;

/**
 * Reads repeatedly, also through outages, until the process gets SIGINT or SIGTERM, or the signal aborts.
 *
 * @param onTrouble called when a reading fails, but only once for consecutive failures with the same message
 */
export async function follow(
  read: () => Promise<StatusFacts>,
  onFacts: (facts: StatusFacts) => void,
  onTrouble: (message: string) => void,
  stop = new AbortController(),
): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
  let trouble = '';
  let pause: number = dashboardLimits.pause;
  for (;;) {
    await sleep(pause, undefined, { signal: stop.signal }).catch(() => {});
    if (stop.signal.aborted) return;
    const began = performance.now();
    try {
      onFacts(await read());
      trouble = '';
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      if (error.message !== trouble) onTrouble(error.message);
      trouble = error.message;
    }
    pause = Math.max(dashboardLimits.pause, pauseFactor * (performance.now() - began));
  }
}
