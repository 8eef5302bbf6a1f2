import type { Pod } from '../admission/pod.ts';
import { readStatus } from '../admission/status.ts';
import { isErrorCode } from '../errors.ts';
import { statusAnnotation, validatorContainer } from '../names.ts';

/**
 * Why a pod that runs was not proved:
 * - `not-reviewed`: it never came by the webhook, or carries a status that cannot be read;
 * - `admitted-with-warning`: admission would have refused it, and `proof.mode` is `warn`;
 * - `container-missing`: checks were promised, and our init container is not there;
 * - `not-first`: another init container runs before ours;
 * - `not-completed`: ours has not ended with success.
 */
export type Unproved =
  | 'not-reviewed'
  | 'admitted-with-warning'
  | 'container-missing'
  | 'not-first'
  | 'not-completed';

/** {@link Unproved} in words. */
export const unprovedText: Record<Unproved, string> = {
  'not-reviewed': `has no readable annotation ${statusAnnotation}: it never came by the webhook`,
  'admitted-with-warning': `would have been refused, and proof.mode is warn: ${statusAnnotation} has the code`,
  'container-missing': `checks were promised, and there is no init container ${validatorContainer}`,
  'not-first': `an init container runs before ${validatorContainer}`,
  'not-completed': `it runs, and ${validatorContainer} has not ended with success`,
};

/** The state of a container, as the API gives it. */
interface ContainerStatus {
  name: string;
  state?: { running?: object | null; terminated?: { exitCode: number } | null } | null;
}

/** The parts of a pod's status that {@link unproved} reads, as the API gives them. */
export interface RunningStatus {
  phase?: string;
  initContainerStatuses?: ContainerStatus[] | null;
  containerStatuses?: ContainerStatus[] | null;
}

/**
 * Why a pod of a namespace that opted in runs without a proof; undefined where it was proved, where nothing has to be,
 * and while nothing of it but our container runs. While a pod's sandbox is made again its phase is Pending and its
 * containers wait, so an earlier run is not held against it.
 */
export function unproved(pod: Pod, status: RunningStatus): Unproved | undefined {
  if (!runs(status)) return undefined;
  const { checks, reason } = readStatus(pod) ?? {};
  if (!Array.isArray(checks)) return 'not-reviewed';
  if (checks.length === 0) return isErrorCode(reason) ? 'admitted-with-warning' : undefined;
  const at = (pod.spec.initContainers ?? []).findIndex(({ name }) => name === validatorContainer);
  if (at < 0) return 'container-missing';
  if (at > 0) return 'not-first';
  const ours = status.initContainerStatuses?.find(({ name }) => name === validatorContainer);
  return ours?.state?.terminated?.exitCode === 0 ? undefined : 'not-completed';
}

/** Whether a container other than ours runs now; a pod is Running once all of its init containers are done. */
function runs({ phase, initContainerStatuses, containerStatuses }: RunningStatus): boolean {
  const all = [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])];
  return phase === 'Running' || all.some(({ name, state }) => name !== validatorContainer && state?.running);
}
