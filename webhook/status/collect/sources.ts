import { optedInTo } from '../../inject/profile-selection.ts';
import type { ApiObject, Source } from '../../kubernetes/reflector/source.ts';
import { profileLabel } from '../../lib/names.ts';
import { podsPath } from '../../view/sources.ts';
import { type NamespaceObject, namespaceSource } from '../../view/watch-namespaces.ts';
import type { OptIn, PodFacts } from '../facts.ts';
import { type ApiStatusPod, type Exempting, pickPod } from '../pick-pod.ts';

export type StatusPodObject = ApiObject & ApiStatusPod;

/**
 * The namespaces that opted in.
 *
 * @param only one namespace, whether it opted in or not
 */
export const optInSource = (only: string | undefined): Source<NamespaceObject, OptIn> => ({
  resource: 'namespaces',
  path: namespaceSource.path,
  query: only === undefined ? { labelSelector: profileLabel } : { fieldSelector: `metadata.name=${only}` },
  pick: ({ metadata }) => ({ name: metadata.name, profile: optedInTo(metadata.labels ?? {}) }),
});

/** The pods of each namespace that opted in, by its name. Pods that came to their end prove and hold nothing. */
export function podSources(
  namespaces: Iterable<OptIn>,
  exempting: Exempting,
): Map<string, Source<StatusPodObject, PodFacts>> {
  const sources = new Map<string, Source<StatusPodObject, PodFacts>>();
  for (const { name, profile } of namespaces) {
    if (profile === undefined) continue;
    sources.set(name, {
      resource: `pods of namespace ${name}`,
      path: podsPath(name),
      query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
      pick: (pod) => pickPod(pod, exempting),
    });
  }
  return sources;
}
