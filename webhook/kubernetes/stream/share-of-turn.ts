import { setImmediate as othersTurn } from 'node:timers/promises';
import { streamTurn } from '../../lib/limits.ts';

/** When reading began in this turn of the event loop, by `performance.now()`; undefined before. */
let began: number | undefined;

/**
 * What to wait for before more of a stream is read; undefined where this turn of the event loop has time left. Node hands
 * on up to 2 MiB that have come before it looks at anything else, and all streams together get one share of a turn:
 * admission calls are answered in between.
 */
export function restOfTurn(): Promise<void> | undefined {
  if (began === undefined) {
    began = performance.now();
    setImmediate(() => {
      began = undefined;
    });
  }
  return performance.now() - began < streamTurn ? undefined : othersTurn();
}
