import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../cluster/client.ts';
import { CniGateError } from '../../lib/errors.ts';
import { dashboardLimits } from '../../lib/limits.ts';
import { type CollectOptions, readStatus } from './collect.ts';
import type { StatusFacts } from './model.ts';
import type { ReadinessHistory } from './readiness-history.ts';

/** So many times as long as a reading takes is the pause after it: most of the time is left to others. */
const pauseFactor = 4;

/** What is done with readings. */
export interface PollHandlers {
  onFacts: (facts: StatusFacts) => void;
  /** A reading failed; called once for an outage. */
  onTrouble: (error: CniGateError) => void;
}

/**
 * Reads what a status is made of again and again, also through outages, until the signal aborts.
 *
 * @param history of the readings before
 */
export async function pollStatus(
  client: ApiClient,
  options: CollectOptions,
  history: ReadinessHistory,
  { onFacts, onTrouble }: PollHandlers,
  signal: AbortSignal,
): Promise<void> {
  let trouble = '';
  let pause: number = dashboardLimits.pause;
  for (;;) {
    await sleep(pause, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const began = performance.now();
    try {
      const facts = await readStatus(client, options, history);
      trouble = '';
      onFacts(facts);
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      if (error.message !== trouble) onTrouble(error);
      trouble = error.message;
    }
    pause = Math.max(dashboardLimits.pause, pauseFactor * (performance.now() - began));
  }
}

/** A signal that aborts when the process is asked to end. */
export function untilAsked(): AbortController {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
  return stop;
}
