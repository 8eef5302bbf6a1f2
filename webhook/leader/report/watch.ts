import { setTimeout as sleep } from 'node:timers/promises';
import { duplicateAddresses } from '../../nodes/evidence/duplicates.ts';
import type { EvidenceView } from '../../nodes/evidence/evidence.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import type { LeaderDeps } from '../controller.ts';
import { DuplicateWatch, duplicateEvents } from './duplicate-watch.ts';
import { longWait } from './long-waits.ts';

/** How often the evidence is looked at, in milliseconds. No event tells that a wait has become a long one. */
const interval = 1000;

/** The share of one core that looking may take. */
const share = 0.05;

/** What the watch works with. */
export type ReportOptions = Omit<
  LeaderDeps<{
    evidence: Pick<EvidenceView, 'synced' | 'pods'>;
    readiness: Pick<Readiness, 'status' | 'bootSeen'>;
  }>,
  'log'
>;

/**
 * Writes events about duplicate addresses and about pods that wait for a sandbox, while this process leads. Runs until
 * the signal is aborted. Never throws.
 */
export async function watchEvidence(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const duplicates = new DuplicateWatch();
  while (!signal.aborted) {
    const started = performance.now();
    report(options, duplicates, Date.now());
    const busy = performance.now() - started;
    await sleep(Math.max(interval, busy / share), undefined, { signal }).catch(() => {});
  }
}

/**
 * Looks at the evidence once, if this process leads, and queues events: one that was queued before is dropped.
 *
 * @param now milliseconds since the epoch
 */
export function report(options: ReportOptions, duplicates: DuplicateWatch, now: number): void {
  const { view, policy, leader, events } = options;
  if (leader?.leads !== true || !view.evidence.synced) return;
  const found = duplicateAddresses(view.evidence.pods());
  for (const one of duplicates.confirmed(found, (node) => view.readiness.bootSeen(node), now)) {
    if (events.capacity >= 2) for (const event of duplicateEvents(one)) events.add(event);
  }
  const known = { policy: policy(), readiness: view.readiness };
  for (const pod of view.evidence.pods()) {
    const event = events.capacity > 0 ? longWait(pod, known, now) : undefined;
    if (event !== undefined) events.add(event);
  }
}
