import { optedInTo } from '../../admission/mutate/profile-selection.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';
import { namespaceSource, podsPath } from '../../cluster/view/sources.ts';
import { profileLabel } from '../../lib/names.ts';
import { evidencePick } from '../../nodes/evidence/to-facts.ts';
import type { OptIn, PodFacts } from './model.ts';
import { type ApiStatusPod, type Exempting, pickPod } from './pick-pod.ts';

/**
 * The namespaces that opted in.
 *
 * @param only one namespace, whether it opted in or not
 */
export const optInSource = (only: string | undefined): Source<ApiObject, OptIn> => ({
  resource: 'namespaces',
  path: namespaceSource.path,
  query: only === undefined ? { labelSelector: profileLabel } : { fieldSelector: `metadata.name=${only}` },
  pick: ({ metadata }) => ({ name: metadata.name, profile: optedInTo(metadata.labels ?? {}) }),
});

/** The pods of each namespace that opted in. Pods that came to their end prove and hold nothing. */
export function podSources(
  namespaces: Iterable<OptIn>,
  exempting: Exempting,
): Source<ApiObject & ApiStatusPod, PodFacts>[] {
  const toEvidence = evidencePick();
  const optedIn = [...namespaces].filter(({ profile }) => profile !== undefined);
  return optedIn.map(({ name }) => ({
    resource: `pods of namespace ${name}`,
    path: podsPath(name),
    query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
    pick: (pod) => pickPod(pod, exempting, toEvidence),
  }));
}
