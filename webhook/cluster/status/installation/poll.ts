import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../errors.ts';
import type { Registered } from '../../../status/facts.ts';
import type { InstallationFacts } from '../../../status/installation/facts.ts';
import type { ApiClient } from '../../client.ts';
import type { Log } from '../../observe.ts';
import { readInstallation } from './read.ts';

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
  let told: string | undefined;
  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(interval, undefined, { signal });
      try {
        facts = await readInstallation(client, { registered: registered(), ownNamespace }, signal);
        told = undefined;
      } catch (error) {
        signal.throwIfAborted();
        const message = `${messageOf(error)}; it is tried again`;
        if (message !== told) log.warn({ err: error }, message);
        told = message;
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
