import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Log } from '../../lib/deps.ts';
import { leaderLease } from '../../lib/names.ts';
import type { ApiClient } from '../client.ts';
import { LeaderElector } from './leader-elector.ts';

/** Whether this process leads. */
export interface Leadership {
  readonly leads: boolean;
  /** Calls back when this process begins to lead, or no longer leads. @returns what ends that */
  subscribe(changed: () => void): () => void;
}

/** The election of this process, which runs until {@link Candidacy.end}. */
export interface Candidacy {
  /** Undefined where this process can never lead. */
  leader: Leadership | undefined;
  /** The name of this replica's pod. */
  instance: string;
  /** Releases the Lease. Call it when all work of the leader has ended: the next leader must not begin before. */
  end(): Promise<void>;
}

/**
 * Takes part in the leader election, the only one of an installation: all work of the leader depends on it.
 *
 * @param ownNamespace namespace of the Lease; without one this replica never leads
 */
export function runForLeader(client: ApiClient, ownNamespace: string | undefined, log: Log): Candidacy {
  // in a pod, the host name is the pod's
  const instance = hostname();
  if (ownNamespace === undefined) return { leader: undefined, instance, end: async () => {} };
  const identity = `${instance}_${randomUUID()}`;
  const leader = new LeaderElector(client, { namespace: ownNamespace, name: leaderLease, identity, log });
  const led = new AbortController();
  const contending = leader.run(led.signal);
  return {
    leader,
    instance,
    end: async () => {
      led.abort();
      await contending;
    },
  };
}
