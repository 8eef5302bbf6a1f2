import type { IncomingMessage } from 'node:http';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { jsonCost } from '../lib/json-cost.ts';
import { serverLimits } from '../lib/limits.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { EventLoopBudget } from './event-loop-budget.ts';
import type { OverloadLimit } from './metrics.ts';

/** A body that is being received. */
interface Arriving {
  /** When it began, by `performance.now()`. */
  since: number;
  request: IncomingMessage;
  /** Ends it with CNI_GATE_BUSY. */
  stop: () => void;
}

/**
 * Reads and parses the bodies of admission calls within an amount of memory. A call takes what an ordinary body of its
 * size becomes, before anything is read, and the estimate of its own once the text is here. Without enough memory, a
 * call waits for a short time, then fails with CNI_GATE_BUSY. Known callers wait before all others, and a body that
 * arrives too slowly gives its memory to whoever waits.
 */
export class Bodies {
  readonly #memory: Semaphore;
  /** Bytes that one call may take: all but what is reserved for small ones. */
  readonly #largest: number;
  readonly #overload: (limit: OverloadLimit) => void;
  readonly #isKnown: (request: IncomingMessage) => boolean;
  readonly #arriving = new Set<Arriving>();
  readonly #eventLoop = new EventLoopBudget();
  /** Calls {@link Bodies.#makeRoom} while calls wait. */
  #making: NodeJS.Timeout | undefined;

  /**
   * @param memory bytes for all calls
   * @param overload called for each call that a limit stops
   * @param isKnown whether the caller had a valid answer before, as the API server has
   */
  constructor(
    memory: number,
    overload: (limit: OverloadLimit) => void,
    isKnown: (request: IncomingMessage) => boolean,
  ) {
    this.#memory = new Semaphore(memory, serverLimits.smallBody);
    this.#largest = (memory * 3) / 4;
    this.#overload = overload;
    this.#isKnown = isKnown;
  }

  /** Bytes that are taken for calls without an answer. */
  get inFlight(): number {
    return this.#memory.used;
  }

  /**
   * Runs a handler with the body of a request. The body has its room until the handler ends.
   *
   * @param limit bytes that the body may have
   * @throws CniGateError where the body is not JSON, is too large, or finds no room
   */
  async handle<T>(
    request: IncomingMessage,
    limit: number,
    handler: (body: unknown) => T | Promise<T>,
  ): Promise<T> {
    const size = sizeOf(request, limit);
    let taken = Math.min(size * serverLimits.ordinaryCost, this.#largest);
    const waited = this.#memory.take(taken, serverLimits.memoryWait, this.#isKnown(request));
    if (this.#memory.waiting > 0) {
      this.#making ??= setInterval(() => this.#makeRoom(), serverLimits.slowBodyOfUnknown);
      this.#makeRoom();
    }
    if (!(await waited)) throw this.#busy('bodies');
    try {
      const text = await this.#receive(request, size, limit);
      await this.#eventLoop.turn();
      const cost = this.#estimate(text);
      if (cost > taken && !this.#memory.tryTake(cost - taken)) throw this.#busy('bodies');
      if (cost < taken) this.#memory.give(taken - cost);
      taken = cost;
      return await handler(parse(text));
    } finally {
      this.#memory.give(taken);
    }
  }

  /** While calls wait, ends the bodies that arrive too slowly: those of unknown callers sooner if a known one waits. */
  #makeRoom(): void {
    const now = performance.now();
    const { slowBody, slowBodyOfUnknown } = serverLimits;
    for (const { since, request, stop } of this.#arriving) {
      const hasTime = this.#memory.waitingFirst === 0 || this.#isKnown(request);
      if (now - since >= (hasTime ? slowBody : slowBodyOfUnknown)) stop();
    }
    if (this.#memory.waiting > 0) return;
    clearInterval(this.#making);
    this.#making = undefined;
  }

  async #receive(request: IncomingMessage, size: number, limit: number): Promise<Buffer> {
    // The client may have disconnected while we waited for memory.
    if (request.destroyed) throw incomplete();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // one buffer, and no list of chunks: a client that sends single bytes would make each of them an object
    let text: Buffer | undefined;
    let received = 0;
    const take = (chunk: Buffer): void => {
      if (received + chunk.length > size) {
        reject(tooLong(limit));
        return;
      }
      if (chunk.length === size) text = chunk;
      else {
        text ??= Buffer.allocUnsafeSlow(size);
        chunk.copy(text, received);
      }
      received += chunk.length;
    };
    // 'close' also follows 'end'; do not create an Error then.
    const gone = (): void => {
      if (!request.readableEnded) reject(incomplete());
    };
    const arriving = { since: performance.now(), request, stop: () => reject(this.#busy('slow-body')) };
    this.#arriving.add(arriving);
    request.on('data', take).on('end', resolve).on('close', gone);
    try {
      await promise;
    } finally {
      this.#arriving.delete(arriving);
      request.off('data', take).off('end', resolve).off('close', gone);
    }
    return text?.subarray(0, received) ?? Buffer.alloc(0);
  }

  /** Bytes of heap for a parsed body, at most. */
  #estimate(text: Buffer): number {
    const { heap, isTooDeep, slow } = jsonCost(text);
    if (isTooDeep)
      throw new CniGateError(
        'CNI_GATE_REVIEW_INVALID',
        `expected at most ${serverLimits.depth} levels of lists and objects in the body, got more; no object of Kubernetes has so many`,
      );
    if (slow === undefined && heap <= this.#largest) return heap;
    this.#overload('cost');
    throw tooLarge(
      slow === undefined
        ? `the body has so many lists, objects and values that it may take ${mebibytes(heap)} MiB of memory; the server has ${mebibytes(this.#largest)} MiB for one call`
        : `expected at most ${slow} in the body, got more; no object of Kubernetes has so many`,
    );
  }

  #busy(limit: OverloadLimit): CniGateError {
    this.#overload(limit);
    return new CniGateError(
      'CNI_GATE_BUSY',
      'the server has no memory left for this call: too many or too large bodies are under way; call again in a second',
    );
  }
}

/** Bytes for which a body needs room: as announced. A body in chunks may become as large as is allowed. */
function sizeOf({ headers }: IncomingMessage, limit: number): number {
  const announced = headers['content-length'];
  if (announced === undefined) return limit;
  // Node's parser of HTTP lets nothing but digits pass
  const size = Number(announced);
  if (size > limit) throw tooLong(limit);
  return size;
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch (error) {
    const [firstLine = ''] = messageOf(error).split('\n');
    throw brokenBody(`the body is not JSON: ${firstLine.slice(0, 200)}`);
  }
}

const brokenBody = (text: string): CniGateError => new CniGateError('CNI_GATE_REVIEW_SYNTAX', text);
const tooLarge = (text: string): CniGateError => new CniGateError('CNI_GATE_REVIEW_TOO_LARGE', text);

const incomplete = (): CniGateError => brokenBody('the body is shorter than its Content-Length');
const tooLong = (limit: number): CniGateError =>
  tooLarge(`the body is larger than ${limit} bytes; no AdmissionReview needs more`);

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
