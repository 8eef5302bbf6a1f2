import { messageOf } from '../errors.ts';
import type { ClusterMetrics } from './metrics.ts';
import type { Observer } from './reflector/reflector.ts';

/** The log, as far as it is written to here. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** Counts what a reflector meets, and logs each fault when it is a new one, and its end. */
export function observe(resource: string, metrics: ClusterMetrics, log: Log): Observer {
  let fault: string | undefined;
  return {
    contact: () => {
      metrics.contact(resource);
      if (fault === undefined) return;
      fault = undefined;
      log.info({ resource }, `the API server answers again about ${resource}`);
    },
    ended: ({ during, reason, wait, error }) => {
      metrics.ended(resource, during, reason);
      if (reason === 'listed' || reason === 'ended') return;
      const told = error === undefined ? `a watch of ${resource} was ${reason}` : messageOf(error);
      if (told === fault) return;
      fault = told;
      log.warn({ resource, during, reason, wait, err: error }, `${told}; it is tried again`);
    },
  };
}
