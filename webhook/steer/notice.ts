import { fitText, inBytes } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';
import { eventReasons } from '../lib/names.ts';
import type { PendingPod } from './pending-pod.ts';
import type { Nomination } from './plan.ts';

/** Something to tell on a pod, as an event of the cluster. */
export interface Notice {
  pod: Pick<PendingPod, 'namespace' | 'name' | 'uid'>;
  type: 'Normal' | 'Warning';
  reason: (typeof eventReasons)[keyof typeof eventReasons];
  /** What was done, in a word. */
  action: string;
  /** Tells this one from others of the same pod and reason: who tells the same again takes the same. */
  occasion: string;
  /** A node that it is about beside the pod. */
  node?: string;
  /** At most {@link longest} bytes. */
  note: string;
}

/** Kubernetes: `NoteLengthLimit`, which counts bytes (pkg/apis/core/validation, events.go). */
export const longest = 1024;

/**
 * That a node was named for a pod.
 *
 * @param version the pod's with the nomination
 */
export function nominatedNotice(
  { pod, node, why }: Omit<Nomination, 'fingerprint'>,
  version: string,
): Notice {
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

/** A text that an event can hold: where both parts are too long together, the first one loses its end. */
export function fitNote(text: string, more = ''): string {
  return fitText(clean(text), longest - Buffer.byteLength(more), inBytes) + more;
}
