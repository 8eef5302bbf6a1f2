import { FairRate, FairShare } from '../lib/fair-share.ts';
import { lookups, objectBytes } from '../lib/limits.ts';
import type { ApiClient } from './client.ts';
import { ClusterError } from './errors.ts';
import { TooLarge } from './exchange.ts';
import { describe, operationOf } from './operation.ts';
import { LargeAnswers } from './stream/large-answers.ts';

/** What came of a question: the value of a metric's label. `limited`: it was not asked. */
export type LookupResult = 'found' | 'absent' | 'failed' | 'limited';

/** How long a look-up waits and remembers, and how many look-ups there may be. */
export interface LookupLimits {
  /** Milliseconds that an answer may take in all. */
  bound: number;
  /** Milliseconds without a byte, after which it is asked once more over a new connection. */
  firstTry: number;
  /** Milliseconds for which an answer is remembered, that there is none as well: a burst of calls asks once. */
  remember: number;
  /** Objects that are asked for or remembered at a time. */
  keys: number;
  /** Questions a second, over all objects. Callers share this and the next two. */
  perSecond: number;
  /** Questions at once after a rest. */
  burst: number;
  /** Questions without an answer yet. */
  atATime: number;
}

/** The limits in a cluster: an answer comes before the API server stops waiting for ours. */
export const defaultLimits: LookupLimits = {
  bound: 5000,
  firstTry: 2000,
  remember: 1000,
  keys: 1000,
  ...lookups,
};

/** What is asked for: the path of an object by its key, and what is taken of it. */
export interface Asked<O, T> {
  path: (key: string) => string;
  pick: (object: O) => T;
  /** Whether what was taken may be kept. */
  fits?: (object: T) => boolean;
}

/**
 * Asks the API server for single objects of which no watch has told in time: one question for each at a time, however
 * many want to know, and only so many in all. Whoever can call may make up names, and each would be a question:
 * callers share what there is, by their addresses.
 */
export class Lookup<O, T> {
  readonly #client: ApiClient;
  readonly #asked: Asked<O, T>;
  readonly #onResult: (result: LookupResult) => void;
  readonly #limits: LookupLimits;
  readonly #answers = new Map<string, Promise<T | undefined>>();
  readonly #rate: FairRate;
  readonly #open: FairShare;
  readonly #large = new LargeAnswers(lookups.beginning, lookups.largeAtATime);

  constructor(
    client: ApiClient,
    asked: Asked<O, T>,
    onResult: (result: LookupResult) => void = () => {},
    limits: LookupLimits = defaultLimits,
  ) {
    this.#client = client;
    this.#asked = asked;
    this.#onResult = onResult;
    this.#limits = limits;
    this.#rate = new FairRate(limits.perSecond, limits.burst);
    this.#open = new FairShare(limits.atATime);
  }

  /**
   * The object as the API server has it now, or had it a moment ago; undefined where there is none.
   *
   * @param caller address of who wants to know; without one, only the limits of all together count
   * @throws ClusterError where it could not be asked; CNI_GATE_CLUSTER_BUSY where too many others were, and
   *   CNI_GATE_CLUSTER_TOO_LARGE where the object has more than is read
   */
  ask(key: string, caller?: string): Promise<T | undefined> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const limit = this.#takeTurn(caller);
    if (limit !== undefined) {
      this.#onResult('limited');
      const message = `${this.#cannot(key)}: too many questions to the API server, ${limit}`;
      return Promise.reject(new ClusterError('CNI_GATE_CLUSTER_BUSY', message, {}));
    }
    const answer = this.#ask(key).finally(() => this.#open.give(caller));
    this.#answers.set(key, answer);
    const forget = (): void => this.#forget(key, answer);
    answer.then(() => setTimeout(forget, this.#limits.remember).unref(), forget);
    return answer;
  }

  /** Drops what is remembered of an object: somebody knows better now. */
  forget(key: string): void {
    this.#answers.delete(key);
  }

  /** Counts one more question, or returns what stands in its way, for people. */
  #takeTurn(caller: string | undefined): string | undefined {
    const { keys, perSecond, atATime } = this.#limits;
    if (this.#answers.size >= keys) return `${keys} answers are remembered`;
    if (!this.#open.tryTake(caller)) return `this caller's share of ${atATime} at a time is used up`;
    if (this.#rate.tryTake(caller, performance.now())) return undefined;
    this.#open.give(caller);
    return `this caller's share of ${perSecond} a second is used up`;
  }

  #forget(key: string, answer: Promise<T | undefined>): void {
    if (this.#answers.get(key) === answer) this.#answers.delete(key);
  }

  #cannot(key: string): string {
    return `cannot ${describe(operationOf('GET', this.#asked.path(key)))}`;
  }

  async #ask(key: string): Promise<T | undefined> {
    const { bound, firstTry } = this.#limits;
    const start = performance.now();
    const signal = AbortSignal.timeout(bound);
    const { path, pick, fits } = this.#asked;
    const get = async (timeout: number): Promise<T> => {
      const object = await this.#client.request<O>('GET', path(key), {
        timeout,
        signal,
        maxBytes: objectBytes.lookup,
        large: this.#large,
      });
      const picked = pick(object);
      if (fits?.(picked) === false) {
        const message = `${this.#cannot(key)}: it has more labels and annotations than cni-gate reads`;
        throw new ClusterError('CNI_GATE_CLUSTER_TOO_LARGE', message, { status: 200 });
      }
      return picked;
    };
    try {
      // the kept connection may lead nowhere any more; the second try gets a new one
      const answer = await get(firstTry).catch((error: unknown) => {
        if (!isUnreachable(error)) throw error;
        return get(Math.max(1, bound - (performance.now() - start)));
      });
      this.#onResult('found');
      return answer;
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) {
        this.#onResult('absent');
        return undefined;
      }
      this.#onResult('failed');
      if (!signal.aborted) throw error;
      const message = `${this.#cannot(key)}: no answer of the API server within ${bound} ms`;
      throw new ClusterError('CNI_GATE_CLUSTER_UNREACHABLE', message, { cause: error });
    }
  }
}

/** An answer that is too large is one: it would be as large again. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof ClusterError && error.status === undefined && !(error.cause instanceof TooLarge);
