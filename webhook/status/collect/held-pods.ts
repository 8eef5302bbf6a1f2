import { apiPath } from '../../kubernetes/api-path.ts';
import { eventReasons, eventReporter } from '../../lib/names.ts';
import type { NodeUsage } from '../../steer/node-usage.ts';
import { NodeUsages } from '../../steer/node-usages.ts';
import type { HeldPodFacts, Nominated, StatusFacts } from '../facts.ts';
import { podsDue, usagesNeeded } from '../unsent.ts';
import { type ClusterReader, ifAllowed } from './reader.ts';

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
  readonly #reader: ClusterReader;
  #knowledge: HeldPodFacts;
  #asked = Number.NEGATIVE_INFINITY;
  readonly #mayList = { usages: true, nominations: true };

  /** @param first what was known before; only these two fields of it are kept */
  constructor(reader: ClusterReader, { usage, lastNomination }: HeldPodFacts = {}) {
    this.#reader = reader;
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

  /** Asks again from time to time, for callers that poll. Errors change nothing: the watches report them. */
  keep(facts: HeldFacts): void {
    const since = performance.now() - this.#asked;
    if (since < pause || facts.policy.steer.mode === 'off') return;
    if (since < interval && usagesNeeded({ ...facts, ...this.#knowledge }, Date.now()).length === 0) return;
    this.#asked = performance.now();
    this.learn(facts).catch(() => {});
  }

  async #usages(facts: HeldFacts): Promise<UsageOf> {
    const usages = new NodeUsages(this.#reader.client);
    const found = new Map<string, NodeUsage>();
    const usage: UsageOf = (node) => found.get(node);
    for (let round = 0; round < rounds && this.#mayList.usages; round += 1) {
      const nodes = usagesNeeded({ ...facts, usage }, Date.now());
      if (nodes.length === 0) break;
      const asked = await ifAllowed(usages.ask(nodes, performance.now(), this.#reader.signal));
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
    const found = await ifAllowed(lastNominations(this.#reader, namespaces));
    this.#mayList.nominations = found !== undefined;
    return found;
  }
}

/** So many namespaces are asked about, and so many events of each are read. */
const [mostNamespaces, mostEvents] = [10, 500];

/** What is read of an event. */
interface ApiEvent {
  eventTime?: string | null;
  regarding?: { uid?: string } | null;
  related?: { name?: string } | null;
  reportingController?: string;
}

/**
 * The last nomination of each pod in some namespaces, by the pod's UID, from the leader's events. The API server
 * keeps events for an hour by default.
 *
 * @throws ClusterError
 */
async function lastNominations(
  { client, signal }: ClusterReader,
  namespaces: readonly string[],
): Promise<Map<string, Nominated>> {
  const query = { fieldSelector: `reason=${eventReasons.nominated}`, limit: mostEvents };
  const pages = await Promise.all(
    [...new Set(namespaces)].slice(0, mostNamespaces).map((namespace) => {
      const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      return client.request<{ items?: ApiEvent[] | null }>('GET', path, { query, signal });
    }),
  );
  const last = new Map<string, Nominated>();
  for (const { eventTime, regarding, related, reportingController } of pages.flatMap(
    ({ items }) => items ?? [],
  )) {
    const at = Date.parse(eventTime ?? '');
    const [uid, node] = [regarding?.uid, related?.name];
    if (reportingController !== eventReporter || !uid || !node || Number.isNaN(at)) continue;
    if (at >= (last.get(uid)?.at ?? 0)) last.set(uid, { node, at });
  }
  return last;
}
