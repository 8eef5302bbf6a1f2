import type { Pod } from '../../webhook/admission/pod.ts';
import { containerFaults } from './kubernetes/containers.ts';
import { metadataFaults } from './kubernetes/metadata.ts';
import { typeFaults } from './kubernetes/openapi.ts';
import { resourceFaults } from './kubernetes/resources.ts';
import { idFaults } from './kubernetes/security.ts';
import { volumeFaults } from './kubernetes/volumes.ts';

/**
 * Why Kubernetes would not take this pod, in texts that do not change when containers move: an empty list where
 * it would. Checked are the types of every field, against the official client's, and those rules of the API
 * server's validation that an injection could break; each rule names its source in Kubernetes. Rules about one
 * operation only are left out, such as that no pod is *created* with ephemeral containers.
 *
 * @param pod parsed JSON or YAML
 */
export function podFaults(pod: unknown): string[] {
  const wrongTypes = typeFaults('V1Pod', pod, 'pod');
  // the rules read fields by type, so they only make sense where the types hold
  if (wrongTypes.length > 0) return wrongTypes;
  const typed = pod as Pod;
  if (!typed.metadata || !typed.spec?.containers) return ['pod: no metadata or no containers'];
  return [
    ...metadataFaults(typed),
    ...containerFaults(typed),
    ...volumeFaults(typed),
    ...resourceFaults(typed.spec.resources, 'spec.resources'),
    ...idFaults(typed.spec.securityContext, 'spec.securityContext'),
  ];
}
