import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { logOnce } from '../../lib/log-once.ts';
import type { ClusterMetrics, Ended } from '../metrics.ts';
import type { LeftOut } from './object.ts';

export interface InformerDeps {
  metrics: ClusterMetrics;
  log: Log;
}

/**
 * The minimum interval, in milliseconds, between log lines about objects that are not kept: any user can create many of
 * them.
 */
const logInterval = 60_000;

const leftOutText: Record<Exclude<LeftOut, 'not-wanted'>, string> = {
  'too-large': 'it is larger than cni-gate reads',
  'too-many': 'there are more than cni-gate keeps',
};

/** Counts what happens to the informer of a resource, and logs when a fault begins and when it ends. */
export function reportOf(resource: string, { metrics, log }: InformerDeps) {
  let fault: string | undefined;
  const leftOut = logOnce(log, logInterval);
  return {
    /** The last fault; undefined once the API server has sent something again. */
    get fault(): string | undefined {
      return fault;
    },
    contact(): void {
      metrics.contact(resource);
      if (fault !== undefined) log.info({ resource }, `the API server answers again about ${resource}`);
      fault = undefined;
    },
    ended(ended: Ended): void {
      metrics.ended(resource, ended);
      const { error: err, ...facts } = ended;
      if (err === undefined) return;
      const text = messageOf(err);
      if (text !== fault) log.warn({ resource, ...facts, err }, `${text}; it is tried again`);
      fault = text;
    },
    leftOut(reason: LeftOut, key: string): void {
      metrics.leftOut.inc({ resource, reason });
      if (reason === 'not-wanted') return;
      const text = `${key} of ${resource} is not known here: ${leftOutText[reason]}`;
      leftOut.warn('', { resource, object: key, reason }, text);
    },
  };
}
