import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRecorder } from '../../cluster/events/recorder.ts';
import type { Leadership } from '../../cluster/lease/leadership.ts';
import type { Policy } from '../../config/policy.ts';
import { DuplicateWatch } from '../../nodes/evidence/duplicate-watch.ts';
import { type DuplicateAddress, duplicateAddresses } from '../../nodes/evidence/duplicates.ts';
import type { EvidenceView } from '../../nodes/evidence/evidence.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import { duplicateEvents } from './duplicate-events.ts';
import { longWait } from './long-waits.ts';

/** How often the evidence is looked at, in milliseconds. No event tells that a wait has become a long one. */
const interval = 1000;

/** The share of one core that looking may take. */
const share = 0.05;

/** What the watch works with. */
export interface ReportOptions {
  view: {
    evidence: Pick<EvidenceView, 'synced' | 'pods'>;
    readiness: Pick<Readiness, 'status' | 'bootSeen'>;
  };
  /** The policy in force. */
  policy: () => Policy;
  leader: Leadership | undefined;
  events: Pick<EventRecorder, 'capacity' | 'add'>;
}

/** What is found in the evidence and reported: one look after the other. */
export class Reports {
  readonly #options: ReportOptions;
  readonly #duplicates = new DuplicateWatch();

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  /**
   * Looks at the evidence once, while this process leads, and queues events about what is new.
   *
   * @param now milliseconds since the epoch
   */
  look(now: number): void {
    const { view, policy, leader, events } = this.#options;
    if (leader?.leads !== true || !view.evidence.synced) return;
    const found = duplicateAddresses(view.evidence.pods());
    const bootSeen = (node: string): number | undefined => view.readiness.bootSeen(node);
    // two events for each
    const room = Math.floor(events.capacity / 2);
    for (const one of this.#duplicates.due(found, bootSeen, now, room)) this.#report(one);
    const known = { policy: policy(), readiness: view.readiness };
    for (const pod of view.evidence.pods()) {
      const event = events.capacity > 0 ? longWait(pod, known, now) : undefined;
      if (event !== undefined) events.add(event);
    }
  }

  #report(found: DuplicateAddress): void {
    for (const event of duplicateEvents(found)) {
      this.#options.events.add(event, () => this.#duplicates.failed(found, Date.now()));
    }
  }
}

/**
 * Writes events about duplicate addresses and about pods that wait for a sandbox, while this process leads. Runs until
 * the signal is aborted. Never throws.
 */
export async function watchEvidence(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const reports = new Reports(options);
  while (!signal.aborted) {
    const started = performance.now();
    reports.look(Date.now());
    const busy = performance.now() - started;
    await sleep(Math.max(interval, busy / share), undefined, { signal }).catch(() => {});
  }
}
