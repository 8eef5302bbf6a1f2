import type { NamespaceFacts } from '../../admission/decide.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import { type NamespaceObject, namespacesPath, pickFacts } from './source.ts';

/** What came of a question: the value of a metric's label. */
export type LookupResult = 'found' | 'absent' | 'failed';

export interface LookupLimits {
  /** Milliseconds that an answer may take in all. */
  bound: number;
  /** Milliseconds without a byte, after which it is asked once more over a new connection. */
  firstTry: number;
  /** Milliseconds for which an answer is remembered: a burst of pods asks once. */
  remember: number;
  /** Names that are asked for or remembered at a time. */
  names: number;
}

export const defaultLimits: LookupLimits = { bound: 5000, firstTry: 2000, remember: 1000, names: 1000 };

type Answer = NamespaceFacts | undefined;

/** Asks the API server for single namespaces: one question for each name at a time, however many want to know. */
export class NamespaceLookup {
  readonly #client: ApiClient;
  readonly #onResult: (result: LookupResult) => void;
  readonly #limits: LookupLimits;
  readonly #answers = new Map<string, Promise<Answer>>();

  constructor(
    client: ApiClient,
    onResult: (result: LookupResult) => void = () => {},
    limits: LookupLimits = defaultLimits,
  ) {
    this.#client = client;
    this.#onResult = onResult;
    this.#limits = limits;
  }

  /**
   * The namespace as the API server has it now, or had it a moment ago; undefined where there is none.
   *
   * @throws ClusterError where it could not be asked
   */
  ask(name: string): Promise<Answer> {
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    if (this.#answers.size >= this.#limits.names) return Promise.reject(tooMany(name, this.#limits.names));
    const answer = this.#ask(name);
    this.#answers.set(name, answer);
    const forget = (): void => this.#forget(name, answer);
    answer.then(() => setTimeout(forget, this.#limits.remember).unref(), forget);
    return answer;
  }

  /** Drops what is remembered of a name: somebody knows better now. */
  forget(name: string): void {
    this.#answers.delete(name);
  }

  #forget(name: string, answer: Promise<Answer>): void {
    if (this.#answers.get(name) === answer) this.#answers.delete(name);
  }

  async #ask(name: string): Promise<Answer> {
    const { bound, firstTry } = this.#limits;
    const start = performance.now();
    const signal = AbortSignal.timeout(bound);
    const get = async (timeout: number): Promise<Answer> =>
      pickFacts(
        await this.#client.request<NamespaceObject>('GET', `${namespacesPath}/${encodeURIComponent(name)}`, {
          timeout,
          signal,
        }),
      );
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
      const message = `cannot get namespaces ${name}: no answer of the API server within ${bound} ms`;
      throw new ClusterError('CNI_GATE_CLUSTER_UNREACHABLE', message, { cause: error });
    }
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof ClusterError && error.status === undefined;

function tooMany(name: string, names: number): ClusterError {
  const message = `cannot get namespaces ${name}: ${names} others are being asked for already`;
  return new ClusterError('CNI_GATE_CLUSTER_BUSY', message, {});
}
