import assert from 'node:assert/strict';
import { admit } from '../../../webhook/admission/mutate/mutate.ts';
import type { Container, Pod } from '../../../webhook/admission/pod.ts';
import { defaultConfiguration } from '../../../webhook/config/load.ts';
import { Policy } from '../../../webhook/config/policy.ts';
import type { ProofMode } from '../../../webhook/config/types.ts';
import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import { type PodSpecimen, podNamespace, podOf } from './pods.ts';

/**
 * The pod after the webhook, and the injected container.
 *
 * @param configuration default: the built-in profiles
 */
export function injected(
  specimen: PodSpecimen,
  mode: ProofMode = 'enforce',
  configuration = defaultConfiguration(),
): { pod: Pod; container: Container } {
  const pod = podOf(specimen);
  configuration.proof.mode = mode;
  const namespace = {
    labels: { ...specimen.namespaceLabels, [profileLabel]: specimen.profile },
    annotations: { ...specimen.namespaceAnnotations },
  };
  const { decision } = admit(
    {
      uid: 'a',
      namespace: podNamespace,
      name: 'web-0',
      operation: 'CREATE',
      subResource: '',
      dryRun: false,
      pod,
    },
    { policy: new Policy(configuration), namespace },
  );
  const container = pod.spec.initContainers?.[0];
  assert.equal(
    container?.name,
    validatorContainer,
    `the webhook put nothing into the pod: ${decision.reason}`,
  );
  return { pod, container };
}
