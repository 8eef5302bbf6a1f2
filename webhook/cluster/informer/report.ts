import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { logOnce } from '../../lib/log-once.ts';
import { getOrMake } from '../../lib/maps.ts';
import { ClusterError } from '../errors.ts';
import type { ClusterMetrics, Ended } from '../metrics.ts';
import type { LeftOut } from './object.ts';

/** Where informers report to. */
export interface InformerDeps {
  metrics: ClusterMetrics;
  log: Log;
  /** Faults that informers share: each one's cause, and the resources that have it. Absent: shared with none. */
  faults?: Map<string, Set<string>>;
}

/** Milliseconds between two log lines about objects of a resource that are left out: any user may create many of them. */
const logInterval = 60_000;

const leftOutText: Record<Exclude<LeftOut, 'not-wanted'>, string> = {
  'too-large': 'it is larger than cni-gate reads',
  'too-many': 'there are more than cni-gate keeps',
};

/**
 * Counts what happens to the informer of a resource, and logs each new fault and its end. A fault that several informers
 * have for one cause, as in an outage, is logged by the first of them, and its end by the last.
 */
export function reportOf(resource: string, { metrics, log, faults = new Map() }: Partial<InformerDeps> = {}) {
  let fault: { text: string; cause: string } | undefined;
  const leftOut = log && logOnce(log, logInterval);
  /** The fault is over. @returns whether no other informer has it */
  const end = (): boolean => {
    const having = faults.get(fault?.cause ?? '');
    if (!having?.delete(resource) || having.size > 0) return false;
    return faults.delete(fault?.cause ?? '');
  };
  return {
    /** The last fault, for people; undefined once the API server sent something after it. */
    get fault(): string | undefined {
      return fault?.text;
    },
    /** The API server sent something. */
    contact(): void {
      metrics?.contact(resource);
      if (fault === undefined) return;
      if (end()) log?.info({ resource }, `the API server answers again about ${resource}`);
      fault = undefined;
    },
    ended(ended: Ended): void {
      metrics?.ended(resource, ended);
      const { error: err, ...facts } = ended;
      if (err === undefined) return;
      const [text, cause] = [messageOf(err), causeOf(err)];
      if (cause !== fault?.cause) {
        end();
        const isFirst = !faults.has(cause);
        getOrMake(faults, cause, () => new Set<string>()).add(resource);
        if (isFirst) log?.warn({ resource, ...facts, err }, `${text}; it is tried again`);
      }
      fault = { text, cause };
    },
    /** The informer was stopped. */
    stopped: end,
    /** An object exists and is not kept; `key` is its name. */
    leftOut(reason: LeftOut, key: string): void {
      metrics?.leftOut.inc({ resource, reason });
      if (reason === 'not-wanted') return;
      const text = `${key} of ${resource} is not known here: ${leftOutText[reason]}`;
      leftOut?.warn('', { resource, object: key, reason }, text);
    },
  };
}

/** Why a list or watch failed, the same for all resources: the text of the API server, or of the network. */
function causeOf(error: unknown): string {
  if (error instanceof ClusterError && error.statusMessage !== '') return error.statusMessage;
  return messageOf(error instanceof Error ? (error.cause ?? error) : error);
}
