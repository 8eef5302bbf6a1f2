import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CniGateError } from '../lib/errors.ts';
import { serverLimits } from '../lib/limits.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { Job, JobResult } from './body-worker.ts';
import type { OverloadLimit } from './metrics.ts';
import type { Reading } from './read-review.ts';

// the worker is a file beside this one, also in the bundle
const bodyWorker = new URL(`./body-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Reads large bodies one at a time in a thread, because V8 may need a second for one. The thread starts with the first
 * body, keeps nothing between bodies, and is replaced if a body ends it.
 * @param limits milliseconds and bytes that reading a body may take
 * @param program what the thread runs
 */
export function largeBodies(
  overload: (limit: OverloadLimit) => void,
  limits: { largeBodyTime: number; largeBodyHeap: number } = serverLimits,
  program = bodyWorker,
) {
  const { largeBodyTime: time, largeBodyHeap: heap } = limits;
  const turn = new Semaphore(1);
  let running: Worker | undefined;

  async function run(job: Job): Promise<JobResult> {
    running ??= start();
    const thread = running;
    const signal = AbortSignal.timeout(time);
    try {
      thread.postMessage(job);
      // an `error` event rejects this wait
      const [result] = await once(thread, 'message', { signal });
      return result as JobResult;
    } catch (error) {
      await thread.terminate();
      if (!signal.aborted && !isOutOfMemory(error)) throw error;
      return {
        code: 'CNI_GATE_REVIEW_TOO_LARGE',
        message: `reading the body takes more than ${time / 1000} s or ${heap / 1024 / 1024} MiB of memory`,
      };
    }
  }

  function start(): Worker {
    const thread = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heap / 1024 / 1024 } });
    thread.unref();
    // without a listener, an `error` event between two bodies would end the process
    thread
      .on('error', () => {})
      .once('exit', () => {
        if (running === thread) running = undefined;
      });
    return thread;
  }

  return {
    /** Reads a body like `readReview`. @throws CniGateError if it takes more time or memory than allowed */
    async read(job: Job): Promise<Reading> {
      if (!(await turn.take(serverLimits.requestTimeout))) {
        overload('bodies');
        throw new CniGateError(
          'CNI_GATE_BUSY',
          'too many large bodies are under way; call again in a second',
        );
      }
      try {
        const result = await run(job);
        if ('reading' in result) return result.reading;
        if (result.code === 'CNI_GATE_REVIEW_TOO_LARGE') overload('cost');
        throw new CniGateError(result.code, result.message);
      } finally {
        turn.give();
      }
    },
    close: async (): Promise<void> => void (await running?.terminate()),
  };
}

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
