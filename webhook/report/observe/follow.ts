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

/** Reads what a status is made of. */
export type ReadStatus = () => Promise<StatusFacts>;

/** Opens the cluster of the flags for readings. @throws CniGateError as {@link observeStatus} */
export async function withStatus(
  { kubeconfig, context, config, ownNamespace, namespace, probe }: StatusFlags,
  use: (read: ReadStatus) => Promise<void>,
): Promise<void> {
  const given = givenPolicy(config);
  const client = await openCluster(kubeconfig, context);
  try {
    await use(() => observeStatus(client, { ownNamespace, given, namespace, probe: probe === true }));
  } finally {
    client.close();
  }
}

/** The pause after a reading is as long as that reading, times this: most of the time is left to others. */
const pauseFactor = 4;

/**
 * Reads again and again, also through outages, until the process is asked to end or the signal aborts.
 *
 * @param onTrouble a reading failed; called once for an outage
 */
export async function follow(
  read: ReadStatus,
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
