import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../kubernetes/client.ts';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Registered } from '../facts.ts';
import type { InstallationFacts } from '../installation/facts.ts';
import { readInstallation } from './installation.ts';

/** Milliseconds between two readings: a dozen small requests each. */
const interval = 5000;

/** What is read again and again, as long as nobody closes it. */
export interface PolledInstallation {
  /** What was read last. */
  facts(): InstallationFacts;
  close(): Promise<void>;
}

/**
 * Reads what admission depends on every few seconds. These are a dozen single objects: watches for each would need
 * more rights and connections. An outage is told to the log once, and what was read before it stays.
 *
 * @param registered the webhooks as they are known now
 * @param first what was read before
 */
export function pollInstallation(
  client: ApiClient,
  {
    registered,
    ownNamespace,
    first,
    log,
  }: {
    registered: () => Registered;
    ownNamespace: string;
    first: InstallationFacts;
    log: Log;
  },
): PolledInstallation {
  const stop = new AbortController();
  const { signal } = stop;
  let facts = first;
  let reported: string | undefined;
  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(interval, undefined, { signal });
      try {
        facts = await readInstallation(client, { registered: registered(), ownNamespace }, signal);
        reported = undefined;
      } catch (error) {
        signal.throwIfAborted();
        const message = `${messageOf(error)}; it is tried again`;
        if (message !== reported) log.warn({ err: error }, message);
        reported = message;
      }
    }
  };
  // it ends by the signal alone
  const running = run().catch(() => {});
  return {
    facts: () => facts,
    close: async () => {
      stop.abort();
      await running;
    },
  };
}
