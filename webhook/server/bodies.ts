import type { IncomingMessage } from 'node:http';
import { CniGateError } from '../lib/errors.ts';
import { bodiesOfTurn, serverLimits } from '../lib/limits.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { OverloadLimit } from './metrics.ts';

/**
 * Receives the bodies of admission calls. Each turn of the event loop handles only a few small bodies and one large
 * body, and only a few large bodies are received at a time. Calls of known callers go first.
 */
export class Bodies {
  readonly #large = new Semaphore(serverLimits.largeBodies);
  readonly #turns = new Semaphore(bodiesOfTurn);
  readonly #turnsOfLarge = new Semaphore(1);
  readonly #overload: (limit: OverloadLimit) => void;
  readonly #isKnown: (request: IncomingMessage) => boolean;

  /** @param isKnown whether the caller has received a valid answer before, as the API server has */
  constructor(overload: (limit: OverloadLimit) => void, isKnown: (request: IncomingMessage) => boolean) {
    this.#overload = overload;
    this.#isKnown = isKnown;
  }

  /**
   * Runs a handler with the body. The handler calls `turn` before each further reading of the body.
   * @throws CniGateError if the body is too large or incomplete, or takes too long
   */
  async handle<T>(
    request: IncomingMessage,
    handler: (text: Buffer, turn: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const size = sizeOf(request);
    const isSmall = size <= serverLimits.smallBody;
    const turn = async (): Promise<void> => {
      const turns = isSmall ? this.#turns : this.#turnsOfLarge;
      if (!(await turns.turn(serverLimits.requestTimeout, this.#isKnown(request))))
        throw this.#busy('bodies');
    };
    if (!isSmall && !(await this.#large.take(serverLimits.largeBodyWait, this.#isKnown(request))))
      throw this.#busy('bodies');
    try {
      const text = await this.#receive(request, size).catch(async (error: unknown) => {
        // errors take turns too: each causes an answer and a log line, and many clients can disconnect at once
        await this.#turns.turn(serverLimits.requestTimeout, false);
        throw error;
      });
      await turn();
      if (!isSmall && partsIn(text.toString('latin1')) > serverLimits.bodyParts) {
        this.#overload('cost');
        throw tooManyParts();
      }
      return await handler(text, turn);
    } finally {
      if (!isSmall) this.#large.give();
    }
  }

  async #receive(request: IncomingMessage, size: number): Promise<Buffer> {
    // The client may have disconnected while its request waited.
    if (request.destroyed) throw incomplete();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // a single buffer, because a list of chunks would let a client create many objects by sending single bytes
    let text: Buffer | undefined;
    let received = 0;
    const take = (chunk: Buffer): void => {
      if (received + chunk.length > size) {
        reject(tooLong());
        return;
      }
      text ??= Buffer.allocUnsafeSlow(size);
      chunk.copy(text, received);
      received += chunk.length;
    };
    // 'close' also follows 'end'. In this case, create no Error.
    const gone = (): void => {
      if (!request.readableEnded) reject(incomplete());
    };
    // a small body needs no timer: the server's `requestTimeout` applies
    const late =
      size > serverLimits.smallBody
        ? setTimeout(() => reject(this.#busy('slow-body')), serverLimits.largeBodyArrival)
        : undefined;
    request.on('data', take).on('end', resolve).on('close', gone);
    try {
      await promise;
    } finally {
      clearTimeout(late);
      request.off('data', take).off('end', resolve).off('close', gone);
    }
    return text?.subarray(0, received) ?? Buffer.alloc(0);
  }

  #busy(limit: OverloadLimit): CniGateError {
    this.#overload(limit);
    return new CniGateError(
      'CNI_GATE_BUSY',
      'too many or too slow bodies are under way; call again in a second',
    );
  }
}

/** The size of a body in bytes, as announced. A chunked body announces no size, and counts as the largest. */
function sizeOf({ headers }: IncomingMessage): number {
  const announced = headers['content-length'];
  if (announced === undefined) return serverLimits.body;
  // Node's HTTP parser accepts only digits here
  const size = Number(announced);
  if (size > serverLimits.body) throw tooLong();
  return size;
}

const incomplete = (): CniGateError =>
  new CniGateError('CNI_GATE_REVIEW_SYNTAX', 'the body is shorter than its Content-Length');
const tooLong = (): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `the body is larger than ${serverLimits.body} bytes; no AdmissionReview needs more`,
  );

/**
 * An upper bound on the number of lists, objects and strings in a JSON text: brackets within strings count too. Reading
 * a review takes up to 0.5 µs for each list, object or string.
 */
function partsIn(text: string): number {
  let count = 0;
  for (const [character, parts] of Object.entries({ '{': 1, '[': 1, '"': 0.5 })) {
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += parts;
  }
  return count;
}

const tooManyParts = (): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `expected at most ${serverLimits.bodyParts} lists, objects and strings in the body, got more; no object of Kubernetes has so many`,
  );
