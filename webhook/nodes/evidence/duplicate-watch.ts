import { duplicatesOfNamespace } from '../../lib/limits.ts';
import { type DuplicateAddress, keyOf } from './duplicates.ts';

/**
 * How long two pods have to have one address before it counts, in milliseconds. A pod's end and the status of the next
 * pod with its address come from two kubelets, in any order.
 */
export const confirmed = 3000;

/**
 * The same where one of the pods is being deleted: its kubelet gives the address back before it reports that the pod is
 * gone.
 */
export const confirmedOfLeaving = 30_000;

/**
 * How long after a boot of a node nothing is concluded from its pods, in milliseconds. Their statuses show the sandboxes
 * of the previous boot until the kubelet updates them: 4.3 s with 64 pods.
 */
export const afterBoot = 60_000;

interface Seen {
  since: number;
  /** When it may be reported again: never, unless a report failed. */
  again: number;
}

/**
 * Which duplicate addresses need a report: each one once, for as long as it lasts. Pure: times are arguments, in
 * milliseconds since the epoch.
 */
export class DuplicateWatch {
  readonly #seen = new Map<string, Seen>();

  /**
   * The duplicates to report now. They count as reported unless {@link failed} is called.
   *
   * @param found all that there are
   * @param bootedAt when a boot of the node was last observed; undefined if none was
   * @param max the largest number to report
   */
  due(
    found: readonly DuplicateAddress[],
    bootedAt: (node: string) => number | undefined,
    now: number,
    max: number,
  ): DuplicateAddress[] {
    const left = new Set(this.#seen.keys());
    const due: DuplicateAddress[] = [];
    const counts = new Map<string, number>();
    for (const one of found) {
      const source = sourceOf(one);
      const count = (counts.get(source) ?? 0) + 1;
      if (count > duplicatesOfNamespace) continue;
      counts.set(source, count);
      const key = keyOf(one);
      left.delete(key);
      const seen = this.#seen.get(key) ?? { since: now, again: 0 };
      // our clock may have been set back
      seen.since = Math.min(seen.since, now);
      this.#seen.set(key, seen);
      const { older, younger } = one;
      const wait = older.leaving || younger.leaving ? confirmedOfLeaving : confirmed;
      const booted = Math.max(bootedAt(older.node) ?? 0, bootedAt(younger.node) ?? 0);
      const isConfirmed = now - seen.since >= wait && now - booted >= afterBoot;
      if (!isConfirmed || now < seen.again || due.length >= max) continue;
      seen.again = Number.POSITIVE_INFINITY;
      due.push(one);
    }
    for (const key of left) this.#seen.delete(key);
    return due;
  }

  /** A report could not be made: it is due again after a minute. */
  failed(one: DuplicateAddress, now: number): void {
    const seen = this.#seen.get(keyOf(one));
    if (seen !== undefined) seen.again = now + 60_000;
  }
}

/** Who can cause it: users of one namespace, or of any. Claims from one source take no room from those of others. */
function sourceOf({ network, older, younger }: DuplicateAddress): string {
  if (network === '') return 'kubelets';
  return older.namespace === younger.namespace ? `namespace ${older.namespace}` : 'any namespace';
}
