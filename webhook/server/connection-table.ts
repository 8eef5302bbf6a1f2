import type { Socket } from 'node:net';
import { knownCallers } from '../lib/limits.ts';
import type { Callers } from './callers.ts';

/** `new`: has never had an answer, and sends its first request at best. `busy`: its request is worked on. */
export type ConnectionState = 'new' | 'idle' | 'busy';

/** An open connection, from the accept to its end. */
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
    connection.state = state;
    connection.since = now;
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
      const [group, state] = this.#leastMissedOf(connections, isProtected, now);
      const count = countOf(connections);
      // there may be thousands of addresses: most are passed over by now
      if (!state || group < highest || (group === highest && count < most)) continue;
      const connection = firstOf(connections[state]);
      const isTie = group === highest && count === most;
      if (!connection || (isTie && connection.since >= sinceOf(best))) continue;
      [best, highest, most] = [connection, group, count];
    }
    return best;
  }

  /** The group of the connection that an address misses least, and its state. */
  #leastMissedOf(own: Connections, isProtected: boolean, now: number): [number, ConnectionState?] {
    if (!isProtected && own.new.size > 0) return [groups.new, 'new'];
    if (now - sinceOf(firstOf(own.busy)) > this.#answerTimeout) return [groups.stuck, 'busy'];
    if (!isProtected && own.idle.size > 0) return [groups.idle, 'idle'];
    if (own.new.size > 0) return [groups.newProtected, 'new'];
    return own.idle.size > 0 ? [groups.idleProtected, 'idle'] : [0];
  }

  #isProtected(address: string, waiting: number, now: number): boolean {
    return waiting <= knownCallers.share && this.#callers.knows(address, now);
  }
}

const waitingOf = (own: Connections): number => own.new.size + own.idle.size;

const countOf = (own: Connections): number => waitingOf(own) + own.busy.size;

const firstOf = (connections: Set<Connection>): Connection | undefined =>
  connections.size === 0 ? undefined : connections.values().next().value;

const sinceOf = (connection: Connection | undefined): number => connection?.since ?? Number.POSITIVE_INFINITY;
