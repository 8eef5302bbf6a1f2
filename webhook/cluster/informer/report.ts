import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ClusterMetrics } from '../metrics.ts';
import type { LeftOut } from './object.ts';

/** Where informers report to. */
export interface InformerDeps {
  metrics: ClusterMetrics;
  log: Log;
}

/** A list or watch that ended; `wait` milliseconds later the next one starts. */
export interface Ended {
  during: 'list' | 'watch';
  /**
   * The value of a metric's label. `silent`: its connection is dead, or bytes are lost on the way; `expired`: the version
   * is too old to go on from.
   */
  reason: 'ended' | 'silent' | 'expired' | 'failed';
  wait: number;
  /** Set unless it `ended`. */
  error?: unknown;
}

/** Milliseconds between two log lines about objects of a resource that are left out: any user may create many of them. */
const logInterval = 60_000;

const leftOutText: Record<Exclude<LeftOut, 'not-wanted'>, string> = {
  'too-large': 'it is larger than cni-gate reads',
  'too-many': 'there are more than cni-gate keeps',
};

/** Counts what happens to the informer of a resource, and logs each new fault and its end. */
export function reportOf(resource: string, { metrics, log }: Partial<InformerDeps> = {}) {
  let fault: string | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    /** The last fault, for people; undefined once the API server sent something after it. */
    get fault(): string | undefined {
      return fault;
    },
    /** The API server sent something. */
    contact(): void {
      metrics?.contact(resource);
      if (fault === undefined) return;
      fault = undefined;
      log?.info({ resource }, `the API server answers again about ${resource}`);
    },
    ended(ended: Ended): void {
      metrics?.ended(resource, ended);
      const { error: err, ...facts } = ended;
      const problem = err === undefined ? undefined : messageOf(err);
      if (problem === undefined || problem === fault) return;
      fault = problem;
      log?.warn({ resource, ...facts, err }, `${problem}; it is tried again`);
    },
    /** An object exists and is not kept; `key` is its name. */
    leftOut(reason: LeftOut, key: string): void {
      metrics?.leftOut.inc({ resource, reason });
      if (reason === 'not-wanted' || performance.now() - loggedAt < logInterval) return;
      loggedAt = performance.now();
      log?.warn(
        { resource, object: key, reason },
        `${key} of ${resource} is not known here: ${leftOutText[reason]}`,
      );
    },
  };
}
