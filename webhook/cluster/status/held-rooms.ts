import type { StatusFacts } from '../../status/facts.ts';
import { roomsNeeded } from '../../status/unsent.ts';
import type { Room } from '../../steer/room.ts';
import type { ApiClient } from '../client.ts';
import { Rooms } from '../steer/rooms.ts';
import { ifAllowed } from './registered.ts';

/** How often a plan is made to find the nodes to ask about: each answer may show that others matter. */
const rounds = 3;

/** Milliseconds after which all is asked again while status watches, and after which more is asked where more matters. */
const [interval, pause] = [10_000, 1000];

type RoomOf = (node: string) => Room | undefined;
type HeldFacts = Omit<StatusFacts, 'room'>;

/**
 * What is taken of the nodes that pods which are held could go to, for as few nodes as say why they are sent nowhere.
 * Asked by the right to list the pods of all namespaces; without it nothing is known.
 */
export class HeldRooms {
  readonly #client: ApiClient;
  readonly #signal: AbortSignal;
  #room: RoomOf;
  #asked = Number.NEGATIVE_INFINITY;
  #isAllowed = true;

  /**
   * @param signal ends every request
   * @param first what was known before
   */
  constructor(client: ApiClient, signal: AbortSignal, first: RoomOf = () => undefined) {
    this.#client = client;
    this.#signal = signal;
    this.#room = first;
  }

  /** What is taken of a node; undefined where that is not known. */
  get room(): RoomOf {
    return this.#room;
  }

  /**
   * Asks about the nodes that matter now, some at a time and a limited number in all.
   *
   * @throws ClusterError where the cluster does not answer
   */
  async learn(facts: HeldFacts): Promise<void> {
    const rooms = new Rooms(this.#client);
    const found = new Map<string, Room>();
    const room: RoomOf = (node) => found.get(node);
    for (let round = 0; round < rounds && this.#isAllowed; round += 1) {
      const nodes = roomsNeeded({ ...facts, room }, Date.now());
      if (nodes.length === 0) break;
      this.#isAllowed = (await ifAllowed(rooms.ask(nodes, performance.now(), this.#signal))) !== undefined;
      for (const node of nodes) {
        const there = rooms.get(node, performance.now());
        if (there !== undefined) found.set(node, there);
      }
    }
    this.#room = room;
  }

  /** Asks anew from time to time, for who looks again and again. Faults change nothing: the watches tell those. */
  keep(facts: HeldFacts): void {
    const since = performance.now() - this.#asked;
    if (since < pause) return;
    if (since < interval && roomsNeeded({ ...facts, room: this.#room }, Date.now()).length === 0) return;
    this.#asked = performance.now();
    this.learn(facts).catch(() => {});
  }
}
