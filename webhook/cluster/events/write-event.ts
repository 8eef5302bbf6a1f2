import { eventReporter } from '../../lib/names.ts';
import { microTime } from '../../lib/time-text.ts';
import { apiPath } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import type { Event } from './event.ts';

/** The result of writing an event. `exists`: this replica or another has written it before. */
export type EventResult = { result: 'written' | 'exists' } | { result: 'failed'; error: unknown };

/** Kubernetes: `ReportingInstanceLengthLimit`. */
const longestInstance = 128;

/** The name of an event: the same for the same event, whichever replica writes it. */
export const eventName = ({ regarding, reason, occasion }: Event): string =>
  `cni-gate.${regarding.uid}.${reason.toLowerCase()}.${occasion}`;

/**
 * Writes an event. Its name is {@link eventName}, so the API server refuses a second one.
 *
 * @param instance the name of this replica's pod
 */
export async function writeEvent(
  client: ApiClient,
  event: Event,
  instance: string,
  signal: AbortSignal,
): Promise<EventResult> {
  const { regarding, type, reason, action, node, note } = event;
  const { namespace } = regarding;
  const body = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: eventName(event) },
    eventTime: microTime(new Date()),
    type,
    reason,
    action,
    note,
    regarding,
    ...(node !== undefined && { related: { apiVersion: 'v1', kind: 'Node', name: node } }),
    reportingController: eventReporter,
    reportingInstance: instance.slice(0, longestInstance),
  };
  const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  try {
    await client.request('POST', path, { body, timeout: 5000, signal });
    return { result: 'written' };
  } catch (error) {
    return error instanceof ClusterError && error.status === 409
      ? { result: 'exists' }
      : { result: 'failed', error };
  }
}
