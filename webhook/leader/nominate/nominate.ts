import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
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
