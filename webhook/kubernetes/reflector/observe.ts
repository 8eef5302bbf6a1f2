import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ClusterMetrics } from '../metrics.ts';
import type { LeftOut } from './list-all.ts';
import type { Observer } from './reflector.ts';

/** So often, in milliseconds, the log tells that objects of a resource are left out: anybody may make many of them. */
const tellAgain = 60_000;

const why: Record<Exclude<LeftOut, 'not-wanted'>, string> = {
  'too-large': 'it is larger than cni-gate reads',
  'too-many': 'there are more than cni-gate keeps',
};

/** Counts what a reflector meets, and logs each fault when it is a new one, and its end. */
export function observe(resource: string, metrics: ClusterMetrics, log: Log): Observer {
  let fault: string | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    contact: () => {
      metrics.contact(resource);
      if (fault === undefined) return;
      fault = undefined;
      log.info({ resource }, `the API server answers again about ${resource}`);
    },
    ended: ({ during, reason, wait, error }) => {
      metrics.ended(resource, during, reason);
      if (reason === 'listed' || reason === 'ended' || reason === 'stale') return;
      const problem = error === undefined ? `a watch of ${resource} was ${reason}` : messageOf(error);
      if (problem === fault) return;
      fault = problem;
      log.warn({ resource, during, reason, wait, err: error }, `${problem}; it is tried again`);
    },
    leftOut: (reason, key) => {
      metrics.leftOut(resource, reason);
      if (reason === 'not-wanted' || performance.now() - reportedAt < tellAgain) return;
      reportedAt = performance.now();
      log.warn({ resource, object: key, reason }, `${key} of ${resource} is not known here: ${why[reason]}`);
    },
  };
}
