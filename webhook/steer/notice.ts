import { fitText, inBytes } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';
import { eventReasons } from '../lib/names.ts';
import type { PendingPod } from './pending-pod.ts';
import type { Nomination } from './plan.ts';

/** An event about a pod. */
export interface Notice {
  pod: Pick<PendingPod, 'namespace' | 'name' | 'uid'>;
  type: 'Normal' | 'Warning';
  reason: (typeof eventReasons)[keyof typeof eventReasons];
  /** What was done, in a word. */
  action: string;
  /** Part of the event's name: the same for the same notice, whichever replica writes it. */
  occasion: string;
  /** A node that it is about, besides the pod. */
  node?: string;
  /** At most {@link longest} bytes. */
  note: string;
}

/** Bytes of a note. Source: Kubernetes, `NoteLengthLimit` (pkg/apis/core/validation, events.go). */
export const longest = 1024;

/**
 * The event for a nomination.
 *
 * @param version the pod's with the nomination
 */
export function nominatedNotice({ pod, node, why }: Nomination, version: string): Notice {
  return {
    pod,
    type: 'Normal',
    reason: eventReasons.nominated,
    action: 'Nominate',
    occasion: version,
    node,
    note: fitNote(`node ${node} is nominated, after node ${pod.refused} was refused: ${why}`),
  };
}

/** A text that fits an event. If both parts together are too long, the first one is cut at its end. */
export function fitNote(text: string, more = ''): string {
  return fitText(clean(text), longest - Buffer.byteLength(more), inBytes) + more;
}
