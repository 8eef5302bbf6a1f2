import { apiPath } from '../cluster/api-path.ts';
import type { ApiClient } from '../cluster/client.ts';
import { ClusterError } from '../cluster/errors.ts';
import type { PodEvidence } from '../core/facts/pod-evidence.ts';
import { foreign, releasedAnnotation } from '../lib/names.ts';
import type { Recreation } from './repair/decide.ts';

/** `conflict`: the pod has changed since it was read, or another pod has its name; `gone`: the pod does not exist. */
export type Written =
  | { result: 'made'; version: string }
  | { result: 'conflict' | 'gone' }
  | { result: 'failed'; error: unknown };

type Target = Pick<PodEvidence, 'namespace' | 'name' | 'uid' | 'version'>;

/** The stored pod. A deletion with immediate effect returns a Status instead, which lacks these fields. */
interface Stored {
  metadata?: { uid?: string; resourceVersion?: string };
}

/** The timeout of each request, in milliseconds. */
const timeout = 5000;

/** Nominates a node for a pod. The result is `conflict` if the pod has changed since it was read. */
export const nominate = (
  client: ApiClient,
  { pod, node }: { pod: Target; node: string },
  signal: AbortSignal,
): Promise<Written> =>
  written(client, pod, patch(client, pod, '/status', {}, { status: { nominatedNodeName: node } }, signal));

/**
 * Deletes a pod with the pod's grace period, unless the pod has changed since the decision. `release-and-delete` only
 * removes the Job's labels from the pod, so that the Job counts no failure; a later call deletes the pod.
 */
export function deletePod(
  client: ApiClient,
  { pod, how }: Pick<Recreation, 'pod' | 'how'>,
): Promise<Written> {
  if (how === 'delete') return written(client, pod, remove(client, pod));
  const labels = Object.fromEntries(foreign.jobLabels.map((key) => [key, null]));
  const annotations = { [releasedAnnotation]: pod.controller?.name ?? '' };
  return written(client, pod, patch(client, pod, '', { labels, annotations }));
}

const read = (client: ApiClient, pod: Target): Promise<Stored> =>
  client.request('GET', pathOf(pod), { timeout });

const patch = (
  client: ApiClient,
  pod: Target,
  subresource: '' | '/status',
  metadata: object,
  more: object = {},
  signal?: AbortSignal,
): Promise<Stored> =>
  client.request('PATCH', `${pathOf(pod)}${subresource}`, {
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid: pod.uid, resourceVersion: pod.version, ...metadata }, ...more },
    timeout,
    signal,
  });

const remove = (client: ApiClient, { uid, version, ...pod }: Target): Promise<Stored> =>
  client.request('DELETE', pathOf(pod), {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion: version } },
    timeout,
  });

const pathOf = ({ namespace, name }: Pick<Target, 'namespace' | 'name'>): string =>
  apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;

/** Waits for a request, and maps its answer or error to a result. Never throws. */
async function written(client: ApiClient, pod: Target, request: Promise<Stored>): Promise<Written> {
  try {
    const { metadata } = await request;
    return { result: 'made', version: metadata?.resourceVersion ?? '' };
  } catch (error) {
    const status = error instanceof ClusterError ? error.status : undefined;
    if (status === 404) return { result: 'gone' };
    // our own policy runs before the API server compares versions, so after a 422, check whether the pod has changed
    const found = status === 422 ? await read(client, pod).catch(() => undefined) : undefined;
    const isChanged =
      found && (found.metadata?.uid !== pod.uid || found.metadata.resourceVersion !== pod.version);
    return status === 409 || isChanged ? { result: 'conflict' } : { result: 'failed', error };
  }
}
