import { repairLimits } from '../lib/limits.ts';
import { BackOff } from '../steer/back-off.ts';
import type { Room } from './types.ts';

/**
 * What recreated pods found out about one profile's network on a node, while no proof has passed there: how many may try
 * at a time, with growing pauses. Times are milliseconds of a monotonic clock.
 */
export class NodeRecord {
  readonly #backOff = new BackOff(repairLimits);
  /** See `NodeForProfile`; undefined until a plan reads it. */
  instance: string | undefined;
  /** Attempts whose verdict is expected, of pods for which the node is not proved. */
  awaited = 0;

  /** Whether a recreated pod failed on the node since one passed there. */
  get #hasFailed(): boolean {
    return this.#backOff.failures > 0;
  }

  /** @param needsProof whether the network works there only if a proof passed */
  room(now: number, needsProof: boolean): Room {
    const { notBefore } = this.#backOff;
    if (notBefore > now) return { count: 0, reason: 'node-pause', again: notBefore };
    const atATime = needsProof || this.#hasFailed ? 1 : repairLimits.firstOfNode;
    return { count: atATime - this.awaited, reason: 'node-to-prove', again: undefined };
  }

  worked(): void {
    this.#backOff.worked();
  }

  failed(now: number): void {
    this.#backOff.failed(now);
  }

  isIdle(now: number): boolean {
    return this.awaited === 0 && this.#backOff.notBefore + repairLimits.longestPause <= now;
  }
}
