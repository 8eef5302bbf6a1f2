import { optedInTo } from '../../admission/choice.ts';
import { profileLabel } from '../../names.ts';
import type { OptIn, PodFacts } from '../../status/facts.ts';
import { type ApiStatusPod, type Exempting, pickPod } from '../../status/pick-pod.ts';
import { podsPath } from '../gate/sources.ts';
import { type NamespaceObject, namespaceSource } from '../namespaces/source.ts';
import type { Source } from '../reflector/list-all.ts';
import type { ApiObject } from '../reflector/object.ts';

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
