import { env } from '../../../validator/shared/contract.ts';
import { texts } from '../../lib/limits.ts';
import { profileLabel } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import type { Container, ObjectMeta } from '../pod.ts';
import { isOurContainer } from './current.ts';
import { readStatus } from './status-annotation.ts';

/** The parts of a pod that {@link requiredProfiles} reads. */
export interface PromisedPod {
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>;
  spec?: { initContainers?: Pick<Container, 'name' | 'env'>[] | null };
}

/**
 * The profiles that promise something to a pod: those in its status annotation, and those whose checks its init
 * container runs. A user who may patch the pod can remove the annotation, but cannot change the environment of a
 * container (Kubernetes, `ValidatePodUpdate`: only the image of a container may change).
 *
 * If the pod has the init container and neither source names a profile, as with a network's own validator, the label
 * names them.
 */
export function requiredProfiles({ metadata, spec }: PromisedPod): string[] {
  const reported: unknown = readStatus({ metadata })?.profiles;
  const container = spec?.initContainers?.find(isOurContainer);
  const named = new Set([
    ...stringsOf(reported),
    ...(container === undefined ? [] : profilesProvedBy(container)),
  ]);
  if (named.size > 0 || container === undefined) return [...named];
  const label = own(metadata.labels, profileLabel) ?? '';
  return label !== '' && label.length <= max.characters ? label.split('.') : [];
}

/**
 * The profiles whose checks the init container of a pod makes. Unlike the annotation, users cannot change them. For a
 * network's own validator, the label names them.
 */
export function checkedIn({ metadata, spec }: PromisedPod): string[] {
  const container = spec?.initContainers?.find(isOurContainer);
  if (container === undefined) return [];
  const checked = new Set(profilesProvedBy(container));
  return checked.size > 0
    ? [...checked]
    : requiredProfiles({ metadata, spec: { initContainers: [container] } });
}

/** The value of a label has at most 63 characters: at most 32 names joined by dots. */
const max = { names: 32, characters: 63 };

/** The names in a list. Any user may have written it, and cni-gate keeps the result, so it is bounded. */
const stringsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'string' && one.length <= max.characters).slice(0, max.names)
    : [];

/** The profiles whose checks the container runs; none where they cannot be read. */
function profilesProvedBy({ env: variables }: Pick<Container, 'env'>): string[] {
  // of two variables with the same name, the last one counts
  const text = variables?.findLast(({ name }) => name === env.checks)?.value;
  if (typeof text !== 'string' || text.length > texts.annotation) return [];
  try {
    const checks: unknown = JSON.parse(text);
    return Array.isArray(checks) ? stringsOf(checks.map((check) => check?.profile)) : [];
  } catch {
    return [];
  }
}
