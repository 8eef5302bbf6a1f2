import { aboutPod, fitNote, type Notice } from '../events/notice.ts';
import { eventReasons } from '../lib/names.ts';
import type { Nomination } from './plan.ts';

/**
 * The event for a nomination.
 *
 * @param version the pod's with the nomination
 */
export function nominatedNotice({ pod, node, why }: Nomination, version: string): Notice {
  return {
    regarding: aboutPod(pod),
    type: 'Normal',
    reason: eventReasons.nominated,
    action: 'Nominate',
    occasion: version,
    node,
    note: fitNote(`node ${node} is nominated, after node ${pod.refused} was refused: ${why}`),
  };
}
