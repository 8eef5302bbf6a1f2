import type { Semaphore } from '../lib/semaphore.ts';

/**
 * Waits until work may begin: as many pieces in each turn of the event loop as the semaphore has places, so that
 * connections are served and timers run in between.
 * @param time the longest wait in milliseconds
 * @param isFirst whether it goes before all that are not
 * @returns whether there was a turn in time
 */
export async function nextTurn(begun: Semaphore, time: number, isFirst: boolean): Promise<boolean> {
  const isMine = await begun.take(time, isFirst);
  if (isMine) setImmediate(() => begun.give());
  return isMine;
}
