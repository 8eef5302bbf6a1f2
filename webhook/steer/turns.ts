import type { PendingPod } from './pending-pod.ts';
import type { Work } from './work.ts';

/** The pods of one namespace in the order of their turns. */
export interface Queue<P extends PendingPod = PendingPod> {
  namespace: string;
  pods: P[];
  /** How many of the pods have had their turn in this plan. */
  taken: number;
  /** Steps that they took. */
  spent: number;
}

/** The numbers of the plans in which a namespace last had a turn, and last had the first one; 0 for never. */
interface Served {
  last: number;
  first: number;
}

/**
 * The order in which pods have their turns, so that no namespace delays another. Memory between plans:
 * - when each namespace had a turn. Those that had none come first, as the first one of a plan has the best chance where
 *   something is scarce;
 * - in a namespace with more work than fits in one plan, when each pod had its turn.
 */
export class Turns {
  #round = 0;
  #served = new Map<string, Served>();
  /** By UID, the number of the plan in which a pod last had its turn. */
  #lastTurns = new Map<string, number>();

  /**
   * Namespaces that have waited longest first, then those with the oldest refusal. In each, pods that have waited
   * longest for a turn first, then the oldest refusals.
   */
  order<P extends PendingPod>(pods: Iterable<P>): Queue<P>[] {
    const queues = Array.from(
      Map.groupBy(pods, ({ namespace }) => namespace),
      ([namespace, all]) => ({ namespace, pods: this.#sorted(all), taken: 0, spent: 0 }),
    );
    return queues.sort((one, other) => {
      const [a, b] = [this.#servedOf(one), this.#servedOf(other)];
      return a.last - b.last || a.first - b.first || byFirstPod(one, other);
    });
  }

  /** A plan is carried out: remembers how far it came. @param queues all of {@link order} */
  done(queues: readonly Queue[]): void {
    this.#round += 1;
    this.#served = new Map(
      queues.map((queue, index) => {
        const { last, first } = this.#servedOf(queue);
        const [had, wasFirst] = [queue.taken > 0, queue.taken > 0 && index === 0];
        return [queue.namespace, { last: had ? this.#round : last, first: wasFirst ? this.#round : first }];
      }),
    );
    const cut = queues.filter(({ pods, taken }) => taken < pods.length);
    this.#lastTurns = new Map(
      cut.flatMap(({ pods, taken }) =>
        pods.map((pod, index) => [pod.uid, index < taken ? this.#round : this.#lastTurn(pod)] as const),
      ),
    );
  }

  #sorted<P extends PendingPod>(pods: P[]): P[] {
    return pods.sort((one, other) => this.#lastTurn(one) - this.#lastTurn(other) || byTime(one, other));
  }

  #lastTurn({ uid }: PendingPod): number {
    return this.#lastTurns.get(uid) ?? 0;
  }

  #servedOf({ namespace }: Queue): Served {
    return this.#served.get(namespace) ?? { last: 0, first: 0 };
  }
}

/**
 * The pods one by one, one of each namespace in turn, until the budget is spent. A namespace whose share is spent waits
 * until all others have no pods left or have spent theirs.
 *
 * @param work counts the steps for each pod before the next one is taken
 * @param budget steps
 */
export function* inTurns<P extends PendingPod>(queues: Queue<P>[], work: Work, budget: number): Generator<P> {
  const end = work.spent + budget;
  for (const share of [budget / queues.length, Number.POSITIVE_INFINITY]) {
    const mayGoOn = ({ pods, taken, spent }: Queue): boolean => taken < pods.length && spent < share;
    for (let lap = queues.filter(mayGoOn); lap.length > 0; lap = lap.filter(mayGoOn)) {
      for (const queue of lap) {
        if (work.spent >= end) return;
        const pod = queue.pods[queue.taken];
        if (pod === undefined) continue;
        queue.taken += 1;
        const before = work.spent;
        yield pod;
        queue.spent += work.spent - before;
      }
    }
  }
}

/** The oldest refusal first. */
const byTime = (one: PendingPod, other: PendingPod): number =>
  (one.heldSince ?? 0) - (other.heldSince ?? 0) || (one.name < other.name ? -1 : 1);

function byFirstPod({ pods: [one] }: Queue, { pods: [other] }: Queue): number {
  return one === undefined || other === undefined ? 0 : byTime(one, other);
}
