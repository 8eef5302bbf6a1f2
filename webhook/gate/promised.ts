import { env } from '../../validator/shared/contract.ts';
import type { Container, ObjectMeta } from '../admission/pod.ts';
import { isOurContainer } from '../inject/current.ts';
import { readStatus } from '../inject/status-annotation.ts';
import { texts } from '../lib/limits.ts';
import { profileLabel } from '../lib/names.ts';
import { own } from '../lib/own.ts';

/** The parts of a pod that {@link promisedTo} reads. */
export interface PromisedPod {
  metadata: Pick<ObjectMeta, 'labels' | 'annotations'>;
  spec?: { initContainers?: Pick<Container, 'name' | 'env'>[] | null };
}

/**
 * The profiles that promise something to a pod: those that its status annotation names, and those whose checks its
 * init container makes. Whoever may patch the pod can take the annotation away again, and cannot touch a container's
 * environment (Kubernetes, `ValidatePodUpdate`: of a container only the image may change).
 *
 * Where our container is there and neither names a profile, as with a network's own validator, the label does.
 */
export function promisedTo({ metadata, spec }: PromisedPod): string[] {
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

/** A label's value has 63 characters at most, and so 32 names with dots between them. */
const max = { names: 32, characters: 63 };

/** The names in a list, as far as they can be some: anybody may have written it, and it is kept. */
const stringsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'string' && one.length <= max.characters).slice(0, max.names)
    : [];

/** The profiles whose checks the container makes; none where they cannot be read. */
function profilesProvedBy({ env: variables }: Pick<Container, 'env'>): string[] {
  // of two variables with one name the last one holds
  const text = variables?.findLast(({ name }) => name === env.checks)?.value;
  if (typeof text !== 'string' || text.length > texts.annotation) return [];
  try {
    const checks: unknown = JSON.parse(text);
    return Array.isArray(checks) ? stringsOf(checks.map((check) => check?.profile)) : [];
  } catch {
    return [];
  }
}
