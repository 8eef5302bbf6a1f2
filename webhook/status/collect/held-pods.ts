import type { ApiClient } from '../../kubernetes/client.ts';
import type { NodeUsage } from '../../steer/node-usage.ts';
import { NodeUsages } from '../../steer/node-usages.ts';
import type { HeldPodFacts, Nominated, StatusFacts } from '../facts.ts';
import { podsDue, usagesNeeded } from '../unsent.ts';
import { lastNominations } from './nominations.ts';
import { ifAllowed } from './registered.ts';

/** How often a plan is made to find the nodes to ask about: each answer may show that others matter. */
const rounds = 3;

/** Milliseconds after which all is asked again while status watches, and after which more is asked where more matters. */
const [interval, pause] = [10_000, 1000];

type UsageOf = NonNullable<HeldPodFacts['usage']>;
type HeldFacts = Omit<StatusFacts, keyof HeldPodFacts>;

/**
 * What is asked for where pods are held, to say why they are sent nowhere: what is taken of the nodes that they could
 * go to, by the right to list the pods of all namespaces, and when nodes were named for them, by the right to list
 * events. As little as says that; without a right it is not known.
 */
export class HeldPods {
  readonly #client: ApiClient;
  readonly #signal: AbortSignal;
  #knowledge: HeldPodFacts;
  #asked = Number.NEGATIVE_INFINITY;
  readonly #mayList = { usages: true, nominations: true };

  /**
   * @param signal ends every request
   * @param first what was known before; only these two fields of it are kept
   */
  constructor(client: ApiClient, signal: AbortSignal, { usage, lastNomination }: HeldPodFacts = {}) {
    this.#client = client;
    this.#signal = signal;
    this.#knowledge = { ...(usage && { usage }), ...(lastNomination && { lastNomination }) };
  }

  /** What is known. */
  get knowledge(): HeldPodFacts {
    return this.#knowledge;
  }

  /**
   * Asks about the nodes and pods that matter now, some at a time and a limited number in all.
   *
   * @throws ClusterError where the cluster does not answer
   */
  async learn(facts: HeldFacts): Promise<void> {
    if (facts.policy.steer.mode === 'off') return;
    const usage = await this.#usages(facts);
    const due = podsDue({ ...facts, usage }, Date.now());
    const nominations = await this.#nominations(due.map(({ namespace }) => namespace));
    this.#knowledge = { usage, ...(nominations && { lastNomination: (uid) => nominations.get(uid) }) };
  }

  /** Asks anew from time to time, for who looks again and again. Faults change nothing: the watches tell those. */
  keep(facts: HeldFacts): void {
    const since = performance.now() - this.#asked;
    if (since < pause || facts.policy.steer.mode === 'off') return;
    if (since < interval && usagesNeeded({ ...facts, ...this.#knowledge }, Date.now()).length === 0) return;
    this.#asked = performance.now();
    this.learn(facts).catch(() => {});
  }

  async #usages(facts: HeldFacts): Promise<UsageOf> {
    const usages = new NodeUsages(this.#client);
    const found = new Map<string, NodeUsage>();
    const usage: UsageOf = (node) => found.get(node);
    for (let round = 0; round < rounds && this.#mayList.usages; round += 1) {
      const nodes = usagesNeeded({ ...facts, usage }, Date.now());
      if (nodes.length === 0) break;
      const asked = await ifAllowed(usages.ask(nodes, performance.now(), this.#signal));
      this.#mayList.usages = asked !== undefined;
      for (const node of nodes) {
        const there = usages.get(node, performance.now());
        if (there !== undefined) found.set(node, there);
      }
    }
    return usage;
  }

  async #nominations(namespaces: string[]): Promise<Map<string, Nominated> | undefined> {
    if (namespaces.length === 0 || !this.#mayList.nominations) return undefined;
    const found = await ifAllowed(lastNominations(this.#client, namespaces, this.#signal));
    this.#mayList.nominations = found !== undefined;
    return found;
  }
}
