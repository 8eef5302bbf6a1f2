import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CniGateError, messageOf } from '../errors.ts';
import { type MemoryLimits, serverLimits } from '../limits.ts';
import { Budget } from './budget.ts';
import { heapCostOf } from './json-cost.ts';
import type { OverloadLimit } from './metrics.ts';

type Done = (error: Error | null, body?: unknown) => void;

/** What is looked at of a request before its body. */
interface Asked {
  headers: IncomingMessage['headers'];
  /** There is no such path. */
  is404: boolean;
  routeOptions: { bodyLimit?: number | undefined };
}

/** A body that arrives. */
interface Arrival {
  since: number;
  cut: () => void;
}

/** Room that a parsed body takes until its call is answered. */
interface Room {
  bytes: number;
  /** A handler has it, and gives it back. */
  taken: boolean;
}

/** How often bodies that arrive slowly are looked for while others wait. */
const lookEvery = 100;

/**
 * Reads and parses the bodies of admission calls within two budgets: one for texts, one for what they are parsed into.
 * A call that finds no room waits for a short time, then fails with CNI_GATE_BUSY.
 */
export class Bodies {
  readonly #texts: Budget;
  readonly #parsed: Budget;
  readonly #overload: (limit: OverloadLimit) => void;
  readonly #arriving = new Set<Arrival>();
  readonly #rooms = new WeakMap<object, Room>();
  #look: NodeJS.Timeout | undefined;

  /** @param overload told of each call that a limit stops */
  constructor(limits: Pick<MemoryLimits, 'texts' | 'parsed'>, overload: (limit: OverloadLimit) => void) {
    this.#texts = new Budget(limits.texts, serverLimits.smallBody);
    this.#parsed = new Budget(limits.parsed, serverLimits.smallBody);
    this.#overload = overload;
  }

  /** Bytes of bodies that arrive or wait, and bytes of heap for bodies that are parsed and not answered. */
  get inFlight(): { text: number; parsed: number } {
    return { text: this.#texts.used, parsed: this.#parsed.used };
  }

  /**
   * Runs a handler, and gives back the room of the body that it works on when it ends.
   *
   * @param request as it was parsed
   */
  async answering<T>(request: { body: unknown }, handler: () => T | Promise<T>): Promise<T> {
    const room = this.#rooms.get(request);
    if (room) room.taken = true;
    try {
      return await handler();
    } finally {
      // Fastify keeps the request until its answer is written: the next body must not be parsed beside this one
      request.body = undefined;
      if (room) this.#parsed.give(room.bytes);
    }
  }

  /**
   * A parser for Fastify.
   *
   * @param payload the body as a stream
   * @param done called once, with the parsed body or a CniGateError; handlers run within it
   */
  parse(request: Asked, payload: IncomingMessage, done: Done): void {
    // the answer is "not found", whatever the body is
    if (request.is404) {
      done(null);
      return;
    }
    const limit = request.routeOptions.bodyLimit ?? serverLimits.body.mutate;
    const declared = request.headers['content-length'];
    // Node's parser of HTTP lets nothing but digits pass; a body in chunks may become as large as is allowed
    const size = declared === undefined ? limit : Number(declared);
    if (size > limit) {
      done(tooLarge(limit));
      return;
    }
    if (size === 0) {
      done(emptyBody());
      return;
    }
    if (this.#texts.tryTake(size)) {
      this.#receive(request, payload, size, limit, done);
      return;
    }
    void this.#wait(this.#texts, size, payload).then((room) => {
      if (room) this.#receive(request, payload, size, limit, done);
      else this.#busy(payload, 'text', done);
    });
  }

  #receive(request: Asked, payload: IncomingMessage, size: number, limit: number, done: Done): void {
    // one buffer, and no list of chunks: a client that sends single bytes would make each of them an object
    let text: Buffer | undefined;
    let received = 0;
    const arrival: Arrival = {
      since: performance.now(),
      cut: () => {
        end();
        this.#busy(payload, 'slow-body', done);
      },
    };
    const end = (): void => {
      payload.off('data', take).off('end', whole).off('close', gone);
      this.#arriving.delete(arrival);
      text = undefined;
      this.#texts.give(size);
    };
    const take = (chunk: Buffer): void => {
      if (received + chunk.length > size) {
        end();
        done(tooLarge(limit));
        return;
      }
      if (chunk.length === size) text = chunk;
      else {
        text ??= Buffer.allocUnsafeSlow(size);
        chunk.copy(text, received);
      }
      received += chunk.length;
    };
    const gone = (): void => {
      end();
      done(new CniGateError('CNI_GATE_REVIEW_SYNTAX', 'the body is shorter than its Content-Length'));
    };
    const whole = (): void => {
      payload.off('data', take).off('end', whole).off('close', gone);
      this.#arriving.delete(arrival);
      this.#estimate(request, payload, text?.subarray(0, received) ?? Buffer.alloc(0), size, done);
    };
    // it may be gone since it began to wait
    if (payload.destroyed) {
      gone();
      return;
    }
    this.#arriving.add(arrival);
    payload.on('data', take).on('end', whole).on('close', gone);
  }

  #estimate(request: Asked, payload: IncomingMessage, text: Buffer, size: number, done: Done): void {
    let bytes: number;
    try {
      if (text.length === 0) throw emptyBody();
      bytes = heapCostOf(text, serverLimits.depth);
      if (bytes > this.#parsed.largest) {
        this.#overload('cost');
        throw tooCostly(bytes, this.#parsed.largest);
      }
    } catch (error) {
      this.#texts.give(size);
      done(error as Error);
      return;
    }
    const parse = (): void => {
      this.#texts.give(size);
      const room: Room = { bytes, taken: false };
      try {
        const body: unknown = JSON.parse(text.toString());
        this.#rooms.set(request, room);
        done(null, body);
      } catch (error) {
        done(notJson(error));
      }
      // handlers run within `done`; where none did, nobody else gives it back
      if (!room.taken) this.#parsed.give(bytes);
    };
    if (this.#parsed.tryTake(bytes)) {
      parse();
      return;
    }
    void this.#wait(this.#parsed, bytes, payload).then((room) => {
      if (room) {
        parse();
        return;
      }
      this.#texts.give(size);
      this.#busy(payload, 'parsed', done);
    });
  }

  async #wait(budget: Budget, bytes: number, payload: IncomingMessage): Promise<boolean> {
    this.#lookForSlow();
    // who went away must not stand in line
    const over = new AbortController();
    const stop = (): void => over.abort();
    const late = setTimeout(stop, serverLimits.roomWait);
    payload.socket.once('close', stop);
    const room = await budget.take(bytes, over.signal);
    clearTimeout(late);
    payload.socket.off('close', stop);
    // a line of large bodies must not be parsed in one go: others have their turn in between
    await nextTurn();
    return room;
  }

  /** While others wait for room, bodies that arrive slowly have to give theirs back. */
  #lookForSlow(): void {
    this.#look ??= setInterval(() => {
      if (this.#texts.waiting === 0) {
        clearInterval(this.#look);
        this.#look = undefined;
        return;
      }
      const slow = performance.now() - serverLimits.slowBody;
      for (const arrival of this.#arriving) if (arrival.since < slow) arrival.cut();
    }, lookEvery).unref();
  }

  /** Answers when the rest of the body has come, and is thrown away: a client that still writes would not read it. */
  #busy(payload: IncomingMessage, limit: OverloadLimit, done: Done): void {
    this.#overload(limit);
    const answer = (): void => {
      payload.off('end', answer).off('close', answer);
      done(
        new CniGateError(
          'CNI_GATE_BUSY',
          'the server has no memory left for this call: too many or too large bodies are under way; call again in a second',
        ),
      );
    };
    if (payload.readableEnded || payload.destroyed) {
      answer();
      return;
    }
    payload.on('end', answer).on('close', answer).resume();
  }
}

const emptyBody = (): CniGateError =>
  new CniGateError('CNI_GATE_REVIEW_SYNTAX', 'expected an AdmissionReview, got an empty body');

const tooLarge = (limit: number): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `the body is larger than ${limit} bytes; no AdmissionReview needs more`,
  );

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);

const tooCostly = (bytes: number, most: number): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `the body has so many lists, objects and values that it may take ${mebibytes(bytes)} MiB of memory; the server has ${mebibytes(most)} MiB for one call`,
  );

const notJson = (error: unknown): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_SYNTAX',
    `the body is not JSON: ${(messageOf(error).split('\n')[0] ?? '').slice(0, 200)}`,
  );
