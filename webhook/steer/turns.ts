import type { PendingPod } from './pending-pod.ts';
import type { Work } from './work.ts';

/** The pods of one namespace in the order in which a plan takes them. */
export interface Queue<P extends PendingPod = PendingPod> {
  namespace: string;
  pods: P[];
  /** How many of the pods, from the first on, had no turn in the unfinished pass over the namespace. */
  fresh: number;
  /** How many of the pods have had their turn in this plan. */
  taken: number;
  /** Steps that they took. */
  spent: number;
}

/** When a namespace last had a turn, and when it last had the first one: the numbers of those plans, 0 for never. */
interface Served {
  last: number;
  first: number;
}

/**
 * In which order pods have their turn, so that no namespace keeps another one waiting. Memory between plans:
 * - which namespaces had a turn, as those that had none come first, and the first one of a plan has the best chance
 *   where something is scarce;
 * - in a namespace with more work than fits in one plan, which pods had their turn, as the next plan goes on after them.
 */
export class Turns {
  #round = 0;
  #served = new Map<string, Served>();
  #hadTurn = new Map<string, Set<string>>();

  /** Namespaces that waited longest first, then by their oldest refusal; in each the oldest refusals first. */
  order<P extends PendingPod>(pods: Iterable<P>): Queue<P>[] {
    return Array.from(
      Map.groupBy(pods, ({ namespace }) => namespace),
      ([namespace, all]) => {
        const hadTurn = this.#hadTurn.get(namespace);
        const { fresh = [], later = [] } = Object.groupBy(all.sort(byTime), ({ uid }) =>
          hadTurn?.has(uid) ? 'later' : 'fresh',
        );
        return { namespace, pods: [...fresh, ...later], fresh: fresh.length, taken: 0, spent: 0 };
      },
    ).sort((one, other) => {
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
    this.#hadTurn = new Map(
      queues
        .filter(({ pods, taken }) => taken < pods.length)
        .map(({ namespace, pods, fresh, taken }) => {
          const before = taken < fresh ? pods.slice(fresh) : [];
          return [namespace, new Set([...before, ...pods.slice(0, taken)].map(({ uid }) => uid))];
        }),
    );
  }

  #servedOf({ namespace }: Queue): Served {
    return this.#served.get(namespace) ?? { last: 0, first: 0 };
  }
}

/**
 * The pods one by one, one of each namespace in turn, until the budget is spent. A namespace whose share of it is spent
 * waits until all others have no pods left or have spent theirs.
 *
 * @param work counts what is done about each pod before the next one is asked for
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

/** Those that wait longest first. */
const byTime = (one: PendingPod, other: PendingPod): number =>
  (one.heldSince ?? 0) - (other.heldSince ?? 0) || (one.name < other.name ? -1 : 1);

function byFirstPod({ pods: [one] }: Queue, { pods: [other] }: Queue): number {
  return one === undefined || other === undefined ? 0 : byTime(one, other);
}
