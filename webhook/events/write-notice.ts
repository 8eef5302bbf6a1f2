import { apiPath } from '../kubernetes/api-path.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterError } from '../kubernetes/errors.ts';
import { eventReporter } from '../lib/names.ts';
import { microTime } from '../lib/time-text.ts';
import type { Notice } from './notice.ts';

/** The result of writing an event. `exists`: this replica or another has written it before. */
export type EventResult = { result: 'written' | 'exists' } | { result: 'failed'; error: unknown };

/** Kubernetes: `ReportingInstanceLengthLimit`. */
const longestInstance = 128;

/**
 * Writes a notice as an event. The name is the same for the same notice, so the API server refuses a second
 * one, whichever replica writes it.
 *
 * @param instance the name of this replica's pod
 */
export async function writeNotice(
  client: ApiClient,
  { regarding, type, reason, action, occasion, node, note }: Notice,
  instance: string,
  signal: AbortSignal,
): Promise<EventResult> {
  const { namespace, uid } = regarding;
  const body = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, name: `cni-gate.${uid}.${reason.toLowerCase()}.${occasion}` },
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
