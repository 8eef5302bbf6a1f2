import { createHash } from 'node:crypto';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import { eventReasons } from '../../lib/names.ts';
import { type Written, writtenBy } from '../written.ts';
import type { PendingPod } from './pending-pod.ts';

/** Writes a nomination on exactly the pod and the version that was read. @returns the pod's new version */
export function nominate(
  client: ApiClient,
  { pod, node }: { pod: PendingPod; node: string },
  signal: AbortSignal,
): Promise<Written<{ version: string }>> {
  const { namespace, name, uid, version } = pod;
  const path = apiPath`/api/v1/namespaces/${namespace}/pods/${name}/status`;
  const request = client.request<{ metadata: { resourceVersion: string } }>('PATCH', path, {
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid, resourceVersion: version }, status: { nominatedNodeName: node } },
    timeout: 5000,
    signal,
  });
  return writtenBy(request.then(({ metadata }) => ({ version: metadata.resourceVersion })));
}

const eventOn = (pod: PendingPod): Pick<Event, 'regarding' | 'type' | 'action'> => ({
  regarding: podReference(pod),
  type: 'Normal',
  action: 'Nominate',
});

/**
 * The event for a nomination.
 *
 * @param version the pod's with the nomination
 */
export const nominatedEvent = (pod: PendingPod, node: string, why: string, version: string): Event => ({
  ...eventOn(pod),
  reason: eventReasons.nominated,
  occasion: version,
  node,
  note: fitNote(`node ${node} is nominated, after node ${pod.refused} was refused: ${why}`),
});

/**
 * The event that says why no node is nominated for a pod. Another reason makes another event.
 *
 * @param why a sentence without an end
 */
export const notNominatedEvent = (pod: PendingPod, why: string): Event => ({
  ...eventOn(pod),
  reason: eventReasons.notNominated,
  occasion: createHash('sha256').update(why).digest('hex').slice(0, 16),
  ...(pod.refused !== undefined && { node: pod.refused }),
  note: fitNote(why),
});
