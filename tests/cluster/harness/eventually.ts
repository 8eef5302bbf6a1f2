import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats an attempt until it does not throw. Use `api.until` for anything that can be watched. */
export async function eventually<T>(attempt: () => Promise<T>, seconds = 30): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) {
        if (error instanceof Error) error.message = `not within ${seconds} s: ${error.message}`;
        throw error;
      }
      await sleep(50);
    }
  }
}
