import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CniGateError } from '../lib/errors.ts';
import { serverLimits } from '../lib/limits.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { Job, JobResult } from './body-worker.ts';
import type { OverloadLimit } from './metrics.ts';
import type { Reading } from './read-review.ts';

// in the bundle, too, the worker is a file beside this one
const bodyWorker = new URL(`./body-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Reads large bodies one after another in a thread, because V8 takes up to a second for one. The thread starts with the
 * first body, keeps nothing from one body to the next, and is replaced if a body ends it.
 */
export class LargeBodies {
  readonly #turn = new Semaphore(1);
  readonly #overload: (limit: OverloadLimit) => void;
  readonly #limits: { largeBodyTime: number; largeBodyHeap: number };
  readonly #program: URL;
  #thread: Worker | undefined;

  /** @param limits milliseconds and bytes that a body may take. @param program what the thread runs */
  constructor(overload: (limit: OverloadLimit) => void, limits = serverLimits, program = bodyWorker) {
    this.#overload = overload;
    this.#limits = limits;
    this.#program = program;
  }

  /** Reads a body as `readReview` does. @throws CniGateError if it takes more time or memory than is allowed */
  async read(job: Job): Promise<Reading> {
    if (!(await this.#turn.take(serverLimits.requestTimeout))) {
      this.#overload('bodies');
      throw new CniGateError('CNI_GATE_BUSY', 'too many large bodies are under way; call again in a second');
    }
    try {
      const result = await this.#run(job);
      if ('reading' in result) return result.reading;
      if (result.code === 'CNI_GATE_REVIEW_TOO_LARGE') this.#overload('cost');
      throw new CniGateError(result.code, result.message);
    } finally {
      this.#turn.give();
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #run(job: Job): Promise<JobResult> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    const { largeBodyTime: time, largeBodyHeap: heap } = this.#limits;
    const signal = AbortSignal.timeout(time);
    try {
      thread.postMessage(job);
      // an `error` event also ends the wait
      const [result] = await once(thread, 'message', { signal });
      return result as JobResult;
    } catch (error) {
      await thread.terminate();
      if (!signal.aborted && !isOutOfMemory(error)) throw error;
      return {
        code: 'CNI_GATE_REVIEW_TOO_LARGE',
        message: `the body takes more than ${time / 1000} s or ${heap / 1024 / 1024} MiB of memory to decide on`,
      };
    }
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.#limits.largeBodyHeap / 1024 / 1024 };
    const thread = new Worker(this.#program, { resourceLimits });
    thread.unref();
    // without a listener, an error while no body is read would end the process
    thread
      .on('error', () => {})
      .once('exit', () => {
        if (this.#thread === thread) this.#thread = undefined;
      });
    return thread;
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
