import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import type { PendingPod } from './pending-pod.ts';

/** The result of writing a nomination: the pod's new version, or why there is none. */
export type Written =
  | { result: 'made'; version: string }
  /** `conflict`: the pod has changed; `gone`: it does not exist any more. */
  | { result: 'conflict' | 'gone' }
  | { result: 'failed'; error: unknown };

/** Writes a nomination on exactly the pod and the version that was read. */
export async function nominate(
  client: ApiClient,
  { pod, node }: { pod: PendingPod; node: string },
  signal: AbortSignal,
): Promise<Written> {
  const { namespace, name, uid, version } = pod;
  const path = apiPath`/api/v1/namespaces/${namespace}/pods/${name}/status`;
  try {
    const { metadata } = await client.request<{ metadata: { resourceVersion: string } }>('PATCH', path, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid, resourceVersion: version }, status: { nominatedNodeName: node } },
      timeout: 5000,
      signal,
    });
    return { result: 'made', version: metadata.resourceVersion };
  } catch (error) {
    const status = error instanceof ClusterError ? error.status : undefined;
    if (status === 409) return { result: 'conflict' };
    if (status === 404) return { result: 'gone' };
    return { result: 'failed', error };
  }
}
