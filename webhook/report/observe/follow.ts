import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster } from '../../cluster/open.ts';
import { CniGateError } from '../../lib/errors.ts';
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

/** The shortest pause between two readings, in milliseconds. */
const leastPause = 2_000;

/** The pause after a reading takes this many times as long as the reading, to limit the load on the API server. */
const pauseFactor = 4;

/**
 * Reads the cluster that the flags name: once, or repeatedly until the process gets SIGINT or SIGTERM, or `stop` aborts.
 *
 * @param onTrouble if given, the reading is repeated. Called when a later reading fails, but only once for consecutive
 *   failures with the same message
 * @throws CniGateError as {@link observeStatus}, if the first reading fails
 */
export async function* readings(
  { config, ...flags }: StatusFlags,
  onTrouble?: (message: string) => void,
  stop = new AbortController(),
): AsyncGenerator<StatusFacts, void> {
  const options = { ...flags, given: givenPolicy(config), probe: flags.probe === true };
  const client = await openCluster(flags.kubeconfig, flags.context);
  try {
    yield await observeStatus(client, options);
    if (onTrouble === undefined) return;
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
    let trouble = '';
    for (let pause = leastPause; ; ) {
      await sleep(pause, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return;
      const began = performance.now();
      try {
        yield await observeStatus(client, options);
        trouble = '';
      } catch (error) {
        if (!(error instanceof CniGateError)) throw error;
        if (error.message !== trouble) onTrouble(error.message);
        trouble = error.message;
      }
      pause = Math.max(leastPause, pauseFactor * (performance.now() - began));
    }
  } finally {
    client.close();
  }
}
