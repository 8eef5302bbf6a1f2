import type { Semaphore } from '../lib/semaphore.ts';

/**
 * Waits until a piece of work may begin. In each turn of the event loop, as many pieces begin as the semaphore has
 * places, so that connections are served and timers run in between.
 * @param time the longest wait in milliseconds
 * @param isFirst whether this piece goes before all pieces that are not first
 * @returns whether the piece got a turn in time
 */
export async function nextTurn(begun: Semaphore, time: number, isFirst: boolean): Promise<boolean> {
  const isMine = await begun.take(time, isFirst);
  if (isMine) setImmediate(() => begun.give());
  return isMine;
}
