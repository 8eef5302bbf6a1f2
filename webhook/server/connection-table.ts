import type { Socket } from 'node:net';
import { knownCallers } from '../lib/limits.ts';
import type { Callers } from './callers.ts';

/** `new`: has never had an answer, and sends its first request at best. `busy`: its request is worked on. */
export type ConnectionState = 'new' | 'idle' | 'busy';

export interface Connection {
  socket: Socket;
  address: string;
  state: ConnectionState;
  /** When it came into this state, in milliseconds of `performance.now()`. */
  since: number;
  /** Requests that have no answer yet. */
  open: number;
}

/** The connections of an address; in each state, the one that came into it first stands first. */
type Connections = Record<ConnectionState, Set<Connection>>;

/** How little a connection is missed: the highest goes first, and a busy one never does. */
const groups = { idleProtected: 1, newProtected: 2, idle: 3, stuck: 4, new: 5 } as const;

/** The open connections of a server, and which of them makes room for a new one. Pure: the time is handed in. */
export class ConnectionTable {
  readonly #answerTimeout: number;
  readonly #callers: Pick<Callers, 'knows'>;
  readonly #byAddress = new Map<string, Connections>();
  #size = 0;

  /** @param answerTimeout milliseconds within which every answer is made and read */
  constructor(answerTimeout: number, callers: Pick<Callers, 'knows'>) {
    this.#answerTimeout = answerTimeout;
    this.#callers = callers;
  }

  get size(): number {
    return this.#size;
  }

  add(connection: Connection): void {
    const { address, state } = connection;
    let own = this.#byAddress.get(address);
    if (!own) {
      own = { new: new Set(), idle: new Set(), busy: new Set() };
      this.#byAddress.set(address, own);
    }
    own[state].add(connection);
    this.#size += 1;
  }

  /** Does nothing where it is not there any more. */
  remove(connection: Connection): void {
    const own = this.#byAddress.get(connection.address);
    if (!own?.[connection.state].delete(connection)) return;
    this.#size -= 1;
    if (countOf(own) === 0) this.#byAddress.delete(connection.address);
  }

  enter(connection: Connection, state: ConnectionState, now: number): void {
    const own = this.#byAddress.get(connection.address);
    // its last answer may be written after it was replaced
    if (!own?.[connection.state].delete(connection)) return;
    Object.assign(connection, { state, since: now });
    own[state].add(connection);
  }

  /**
   * The connection that makes room for a new one, or undefined where all are missed more than that:
   *
   * 1. one that was never answered, whether it is in its handshake or holds a request back,
   * 2. one whose client has not read its answer for longer than any answer takes,
   * 3. one that is idle after an answer,
   * 4. and 5. as 1. and 3., of a known caller that has no more than its share; only for another known caller.
   *
   * Within each group, those of the address that has the most connections go first, the oldest first.
   */
  leastMissed(address: string, now: number): Connection | undefined {
    const incoming = this.#byAddress.get(address);
    let highest: number = groups.idle;
    if (this.#isProtected(address, incoming ? waitingOf(incoming) + 1 : 1, now)) highest = 0;
    let best: Connection | undefined;
    let most = 0;
    for (const [own, connections] of this.#byAddress) {
      const isProtected = this.#isProtected(own, waitingOf(connections), now);
      const [group, connection] = this.#leastMissedOf(connections, isProtected, now);
      const count = countOf(connections);
      if (!connection || group < highest) continue;
      const isWorse = group > highest || count > most || (count === most && connection.since < sinceOf(best));
      if (isWorse) [best, highest, most] = [connection, group, count];
    }
    return best;
  }

  #leastMissedOf(own: Connections, isProtected: boolean, now: number): [number, Connection | undefined] {
    const [first] = own.new;
    const [idle] = own.idle;
    const [busy] = own.busy;
    const stuck = busy && now - busy.since > this.#answerTimeout ? busy : undefined;
    if (first && !isProtected) return [groups.new, first];
    if (stuck) return [groups.stuck, stuck];
    if (idle && !isProtected) return [groups.idle, idle];
    return first ? [groups.newProtected, first] : [groups.idleProtected, idle];
  }

  #isProtected(address: string, waiting: number, now: number): boolean {
    return waiting <= knownCallers.share && this.#callers.knows(address, now);
  }
}

const waitingOf = (own: Connections): number => own.new.size + own.idle.size;

const countOf = (own: Connections): number => waitingOf(own) + own.busy.size;

const sinceOf = (connection: Connection | undefined): number => connection?.since ?? Number.POSITIVE_INFINITY;
