import { env } from '../../validator/contract.ts';
import { isOurContainer } from '../admission/current.ts';
import type { Container, ObjectMeta } from '../admission/pod.ts';
import { readStatus } from '../admission/status.ts';
import { profileLabel } from '../names.ts';
import { own } from '../own.ts';

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
  const told: unknown = readStatus({ metadata })?.profiles;
  const container = spec?.initContainers?.find(isOurContainer);
  const named = new Set([
    ...stringsOf(told),
    ...(container === undefined ? [] : profilesProvedBy(container)),
  ]);
  if (named.size > 0 || container === undefined) return [...named];
  const label = own(metadata.labels, profileLabel) ?? '';
  return label !== '' && label.length <= most.characters ? label.split('.') : [];
}

/** A label's value has 63 characters at most, and so 32 names with dots between them. */
const most = { names: 32, characters: 63 };

/** The names in a list, as far as they can be some: anybody may have written it, and it is kept. */
const stringsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'string' && one.length <= most.characters).slice(0, most.names)
    : [];

/** The profiles whose checks the container makes; none where they cannot be read. */
function profilesProvedBy({ env: variables }: Pick<Container, 'env'>): string[] {
  // of two variables with one name the last one holds
  const text = variables?.findLast(({ name }) => name === env.checks)?.value;
  try {
    const checks: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(checks) ? stringsOf(checks.map((check) => check?.profile)) : [];
  } catch {
    return [];
  }
}
