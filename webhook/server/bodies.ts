import type { IncomingMessage } from 'node:http';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { checkShape } from '../lib/json-shape.ts';
import { type MemoryLimits, serverLimits } from '../lib/limits.ts';
import { Budget } from './budget.ts';
import { heapCostOf } from './json-cost.ts';
import type { OverloadLimit } from './metrics.ts';
import { Turns } from './turns.ts';

type Done = (error: Error | null, body?: unknown) => void;

/** A body that arrives. */
interface Arrival {
  since: number;
  cut: () => void;
}

/** Room that a parsed body takes until its call is answered. */
interface Reservation {
  bytes: number;
  /** A handler has it, and gives it back. */
  taken: boolean;
}

/** A request with room for its parsed body. */
interface Reserving {
  /** Undefined until the body is parsed. A field, because an entry of a WeakMap costs each collection of garbage time. */
  reservation?: Reservation | undefined;
}

/** What is looked at of a request before its body. */
interface Asked extends Reserving {
  headers: IncomingMessage['headers'];
  /** There is no such path. */
  is404: boolean;
  routeOptions: { bodyLimit?: number | undefined };
}

declare module 'fastify' {
  interface FastifyRequest extends Reserving {}
}

/** How often bodies that arrive slowly are looked for while others wait. */
const slowInterval = 100;

/**
 * Reads and parses the bodies of admission calls within two budgets: one for texts, one for what they are parsed into.
 * A call that finds no room waits for a short time, then fails with CNI_GATE_BUSY.
 */
export class Bodies {
  readonly #texts: Budget;
  readonly #parsed: Budget;
  readonly #overload: (limit: OverloadLimit) => void;
  readonly #turns = new Turns({ time: serverLimits.turn });
  readonly #arriving = new Set<Arrival>();
  #slowTimer: NodeJS.Timeout | undefined;

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
  async answering<T>(request: Reserving & { body: unknown }, handler: () => T | Promise<T>): Promise<T> {
    const { reservation } = request;
    if (reservation) reservation.taken = true;
    try {
      return await handler();
    } finally {
      // Fastify keeps the request until its answer is written: the next body must not be parsed beside this one
      request.body = undefined;
      if (reservation) this.#parsed.give(reservation.bytes);
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
    void this.#wait(this.#texts, size, payload).then((reservation) => {
      if (reservation) this.#receive(request, payload, size, limit, done);
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
      const whose = payload.socket.remoteAddress;
      const all = text?.subarray(0, received) ?? Buffer.alloc(0);
      this.#turns.run(() => this.#estimate(request, payload, all, size, done), whose);
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
        throw tooCostly(bytes, this.#parsed.largest);
      }
      checkShape(text);
    } catch (error) {
      if (error instanceof CniGateError && error.code === 'CNI_GATE_REVIEW_TOO_LARGE') this.#overload('cost');
      this.#texts.give(size);
      done(error as Error);
      return;
    }
    const parse = (): void => {
      this.#texts.give(size);
      const reservation: Reservation = { bytes, taken: false };
      try {
        const body: unknown = JSON.parse(text.toString());
        request.reservation = reservation;
        done(null, body);
      } catch (error) {
        done(notJson(error));
      }
      // handlers run within `done`; where none did, nobody else gives it back
      if (!reservation.taken) this.#parsed.give(bytes);
    };
    if (this.#parsed.tryTake(bytes)) {
      parse();
      return;
    }
    void this.#wait(this.#parsed, bytes, payload).then((reservation) => {
      if (reservation) {
        this.#turns.run(parse, payload.socket.remoteAddress);
        return;
      }
      this.#texts.give(size);
      this.#busy(payload, 'parsed', done);
    });
  }

  async #wait(budget: Budget, bytes: number, payload: IncomingMessage): Promise<boolean> {
    this.#watchSlow();
    // who went away must not stand in line
    const over = new AbortController();
    const stop = (): void => over.abort();
    const late = setTimeout(stop, serverLimits.memoryWait);
    payload.socket.once('close', stop);
    const reservation = await budget.take(bytes, over.signal);
    clearTimeout(late);
    payload.socket.off('close', stop);
    return reservation;
  }

  /** While others wait for room, bodies that arrive slowly have to give theirs back. */
  #watchSlow(): void {
    this.#slowTimer ??= setInterval(() => {
      if (this.#texts.waiting === 0) {
        clearInterval(this.#slowTimer);
        this.#slowTimer = undefined;
        return;
      }
      const slow = performance.now() - serverLimits.slowBody;
      for (const arrival of this.#arriving) if (arrival.since < slow) arrival.cut();
    }, slowInterval).unref();
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

const tooCostly = (bytes: number, max: number): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `the body has so many lists, objects and values that it may take ${mebibytes(bytes)} MiB of memory; the server has ${mebibytes(max)} MiB for one call`,
  );

const notJson = (error: unknown): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_SYNTAX',
    `the body is not JSON: ${(messageOf(error).split('\n')[0] ?? '').slice(0, 200)}`,
  );
