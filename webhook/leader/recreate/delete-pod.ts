import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { foreign, releasedAnnotation } from '../../lib/names.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { Recreation } from './types.ts';

/**
 * The result of a recreation. `made`: the API server accepted the deletion; `conflict`: the pod is another version than
 * the one that was judged, or another pod of its name; `gone`: it does not exist any more.
 */
export type Recreated = { result: 'made' | 'conflict' | 'gone' } | { result: 'failed'; error: unknown };

/** A pod as the API gives it. */
interface Stored {
  metadata: { uid: string; resourceVersion: string; deletionTimestamp?: string | null };
}

type Target = Pick<PodEvidence, 'namespace' | 'name' | 'uid' | 'version'>;

/** Milliseconds. A request is not cut off by the end of the lead: a released pod has to be deleted. */
const timeout = 5000;

/** How often a released pod is deleted at its newest version: its Job changes it at the same time. */
const attempts = 5;

/**
 * Deletes exactly the pod and the version that was judged, with the pod's own grace period, so that its controller
 * recreates it. A pod of a Job is released before: its Job then does not count it.
 */
export async function deletePod(
  client: ApiClient,
  { pod, how }: Pick<Recreation, 'pod' | 'how'>,
): Promise<Recreated> {
  try {
    if (how === 'delete') await remove(client, pod);
    else {
      await release(client, pod);
      return await deleteReleased(client, pod);
    }
    return { result: 'made' };
  } catch (error) {
    return resultOf(error);
  }
}

/** Deletes a pod that was released, whatever its proof says by now: its Job has another one. */
export async function deleteReleased(client: ApiClient, pod: Target): Promise<Recreated> {
  let result: Recreated = { result: 'conflict' };
  for (let attempt = 0; attempt < attempts && result.result === 'conflict'; attempt += 1) {
    try {
      const { metadata } = await client.request<Stored>('GET', pathOf(pod), { timeout });
      // the leader before may have deleted it already
      if (metadata.uid !== pod.uid || metadata.deletionTimestamp) return { result: 'gone' };
      await remove(client, { ...pod, version: metadata.resourceVersion });
      return { result: 'made' };
    } catch (error) {
      result = resultOf(error);
    }
  }
  return result;
}

async function release(client: ApiClient, pod: PodEvidence): Promise<void> {
  const { uid, version, controller } = pod;
  const labels = Object.fromEntries(foreign.jobLabels.map((key) => [key, null]));
  await client.request('PATCH', pathOf(pod), {
    contentType: 'application/merge-patch+json',
    body: {
      metadata: {
        uid,
        resourceVersion: version,
        labels,
        annotations: { [releasedAnnotation]: controller?.name ?? '' },
      },
    },
    timeout,
  });
}

async function remove(client: ApiClient, pod: Target): Promise<void> {
  const { uid, version } = pod;
  await client.request('DELETE', pathOf(pod), {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion: version } },
    timeout,
  });
}

function resultOf(error: unknown): Recreated {
  const status = error instanceof ClusterError ? error.status : undefined;
  if (status === 409) return { result: 'conflict' };
  if (status === 404) return { result: 'gone' };
  return { result: 'failed', error };
}

const pathOf = ({ namespace, name }: Target): string => apiPath`/api/v1/namespaces/${namespace}/pods/${name}`;
