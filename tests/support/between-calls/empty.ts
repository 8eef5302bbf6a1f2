import { allContainers, type Pod } from '../../../webhook/admission/pod.ts';

/** Structs and pointers of the Go types that are written even when nothing is in them. */
const keptEmpty = new Set(['resources', 'securityContext', 'emptyDir', 'status', 'affinity']);

/**
 * What a round trip through the Go types takes away, as they write nothing for an empty list or map
 * (`omitempty`): `labels: null`, `initContainers: []`.
 */
export function dropEmpty(pod: Pod): void {
  for (const object of [pod.metadata, pod.spec, ...allContainers(pod)]) drop(object);
  for (const { resources } of allContainers(pod)) if (resources) drop(resources);
  if (pod.spec.resources) drop(pod.spec.resources);
}

function drop(object: object): void {
  for (const [key, value] of Object.entries(object)) {
    const empty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    // containers is the one list that is written even when it is null
    if (key !== 'containers' && (value === null || (empty && !keptEmpty.has(key)))) {
      Reflect.deleteProperty(object, key);
    }
  }
}
