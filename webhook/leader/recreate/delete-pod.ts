import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { foreign, releasedAnnotation } from '../../lib/names.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { type Written, writtenBy } from '../written.ts';
import type { Recreation } from './types.ts';

/** A pod as the API gives it. */
interface Stored {
  metadata: { uid: string; resourceVersion: string; deletionTimestamp?: string | null };
}

type Target = Pick<PodEvidence, 'namespace' | 'name' | 'uid' | 'version'>;

/** Milliseconds. A request is not cut off by the end of the lead. */
const timeout = 5000;

/**
 * Deletes exactly the pod and the version that was judged, with the pod's own grace period, so that its controller
 * recreates it. A pod of a Job is only released, and {@link deleteReleased} deletes it: its Job then does not count it.
 */
export const deletePod = (
  client: ApiClient,
  { pod, how }: Pick<Recreation, 'pod' | 'how'>,
): Promise<Written> => writtenBy(how === 'delete' ? remove(client, pod) : release(client, pod));

/** Deletes a pod that was released, whatever its proof says by now: its Job has another one. */
export function deleteReleased(client: ApiClient, pod: Target): Promise<Written> {
  const removeNewest = async (): Promise<object> => {
    const { metadata } = await client.request<Stored>('GET', pathOf(pod), { timeout });
    if (metadata.uid !== pod.uid || metadata.deletionTimestamp) return {};
    return remove(client, { ...pod, version: metadata.resourceVersion });
  };
  return writtenBy(removeNewest());
}

async function release(
  client: ApiClient,
  { controller, uid, version, ...pod }: PodEvidence,
): Promise<object> {
  const labels = Object.fromEntries(foreign.jobLabels.map((key) => [key, null]));
  const annotations = { [releasedAnnotation]: controller?.name ?? '' };
  return client.request('PATCH', pathOf(pod), {
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid, resourceVersion: version, labels, annotations } },
    timeout,
  });
}

const remove = (client: ApiClient, { uid, version, ...pod }: Target): Promise<object> =>
  client.request('DELETE', pathOf(pod), {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion: version } },
    timeout,
  });

const pathOf = ({ namespace, name }: Pick<Target, 'namespace' | 'name'>): string =>
  apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
