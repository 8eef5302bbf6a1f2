import type { HeldKnowledge, Nominated, StatusFacts } from '../../status/facts.ts';
import { podsDue, roomsNeeded } from '../../status/unsent.ts';
import type { Room } from '../../steer/room.ts';
import type { ApiClient } from '../client.ts';
import { Rooms } from '../steer/rooms.ts';
import { lastNominations } from './nominations.ts';
import { ifAllowed } from './registered.ts';

/** How often a plan is made to find the nodes to ask about: each answer may show that others matter. */
const rounds = 3;

/** Milliseconds after which all is asked again while status watches, and after which more is asked where more matters. */
const [interval, pause] = [10_000, 1000];

type RoomOf = NonNullable<HeldKnowledge['room']>;
type HeldFacts = Omit<StatusFacts, keyof HeldKnowledge>;

/**
 * What is asked for where pods are held, to say why they are sent nowhere: what is taken of the nodes that they could
 * go to, by the right to list the pods of all namespaces, and when nodes were named for them, by the right to list
 * events. As little as says that; without a right it is not known.
 */
export class HeldPods {
  readonly #client: ApiClient;
  readonly #signal: AbortSignal;
  #knowledge: HeldKnowledge;
  #asked = Number.NEGATIVE_INFINITY;
  readonly #mayList = { rooms: true, nominations: true };

  /**
   * @param signal ends every request
   * @param first what was known before; only these two fields of it are kept
   */
  constructor(client: ApiClient, signal: AbortSignal, { room, lastNomination }: HeldKnowledge = {}) {
    this.#client = client;
    this.#signal = signal;
    this.#knowledge = { ...(room && { room }), ...(lastNomination && { lastNomination }) };
  }

  /** What is known. */
  get knowledge(): HeldKnowledge {
    return this.#knowledge;
  }

  /**
   * Asks about the nodes and pods that matter now, some at a time and a limited number in all.
   *
   * @throws ClusterError where the cluster does not answer
   */
  async learn(facts: HeldFacts): Promise<void> {
    if (facts.policy.steer.mode === 'off') return;
    const room = await this.#rooms(facts);
    const due = podsDue({ ...facts, room }, Date.now());
    const nominations = await this.#nominations(due.map(({ namespace }) => namespace));
    this.#knowledge = { room, ...(nominations && { lastNomination: (uid) => nominations.get(uid) }) };
  }

  /** Asks anew from time to time, for who looks again and again. Faults change nothing: the watches tell those. */
  keep(facts: HeldFacts): void {
    const since = performance.now() - this.#asked;
    if (since < pause || facts.policy.steer.mode === 'off') return;
    if (since < interval && roomsNeeded({ ...facts, ...this.#knowledge }, Date.now()).length === 0) return;
    this.#asked = performance.now();
    this.learn(facts).catch(() => {});
  }

  async #rooms(facts: HeldFacts): Promise<RoomOf> {
    const rooms = new Rooms(this.#client);
    const found = new Map<string, Room>();
    const room: RoomOf = (node) => found.get(node);
    for (let round = 0; round < rounds && this.#mayList.rooms; round += 1) {
      const nodes = roomsNeeded({ ...facts, room }, Date.now());
      if (nodes.length === 0) break;
      const asked = await ifAllowed(rooms.ask(nodes, performance.now(), this.#signal));
      this.#mayList.rooms = asked !== undefined;
      for (const node of nodes) {
        const there = rooms.get(node, performance.now());
        if (there !== undefined) found.set(node, there);
      }
    }
    return room;
  }

  async #nominations(namespaces: string[]): Promise<Map<string, Nominated> | undefined> {
    if (namespaces.length === 0 || !this.#mayList.nominations) return undefined;
    const found = await ifAllowed(lastNominations(this.#client, namespaces, this.#signal));
    this.#mayList.nominations = found !== undefined;
    return found;
  }
}
