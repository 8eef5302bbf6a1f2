import { isLost, type PodEvidence, type ShownPass } from '../facts/pod-evidence.ts';

/** Identifies the run that the verdict is about; undefined if the pod's status does not show it. */
const runOf = ({ run, startedAt }: PodEvidence): number | undefined => run ?? startedAt;

/** The pod's last proof that passed; undefined if none is known. */
function lastPassOf(pod: PodEvidence): ShownPass | undefined {
  const run = pod.verdict === 'passed' ? runOf(pod) : undefined;
  return pod.passedBefore ?? (run === undefined ? undefined : { run, sandbox: pod.sandboxSince });
}

/** Whether a new run passed in a new sandbox. Later runs in a sandbox prove nothing: a mesh's proxy may answer them. */
export function isNewPass(pod: PodEvidence, before: PodEvidence | undefined): boolean {
  const run = runOf(pod);
  if (pod.verdict !== 'passed' || run === undefined) return false;
  // if the pod was not known before and is not ready, this may not be its first run in the sandbox
  if (before === undefined && pod.unready !== undefined) return false;
  const last = before && lastPassOf(before);
  if (last === undefined) return true;
  return last.run !== run && (last.sandbox === undefined || last.sandbox !== pod.sandboxSince);
}

/**
 * Adds to a watched pod what its status no longer shows.
 * @param before the result for the pod's previous version
 * @param listed whether the pod comes from a list, so that the change may have happened long ago
 */
export function withHistory(
  shown: PodEvidence,
  before: PodEvidence,
  listed: boolean,
  now: number,
): PodEvidence {
  const pod = withLoss(withFailure(shown, before), before, listed, now);
  const last = lastPassOf(before);
  if (last === undefined || isNewPass(pod, before)) return pod;
  // the usual case: the pod's status shows its last pass itself
  if (pod.verdict === 'passed' && runOf(pod) === last.run) return pod;
  return { ...pod, passedBefore: last };
}

/** Keeps the first failure of a pod that fails repeatedly. In the same sandbox, the failure ends only with a pass. */
function withFailure(pod: PodEvidence, before: PodEvidence): PodEvidence {
  if (before.verdict !== 'failed' || pod.verdict === 'passed') return pod;
  const { at, startedAt, failedVersion = before.version } = before;
  if (pod.verdict === 'failed') return { ...pod, at, startedAt, failedVersion };
  const isSame = pod.sandboxSince === before.sandboxSince && pod.owner === before.owner;
  if (!isSame || pod.sandboxSince === undefined) return pod;
  const { verdict, run, failedProfiles, controller, required, waitingFor } = before;
  return {
    ...pod,
    ...{ verdict, at, startedAt, run, failedProfiles, failedVersion, controller, required, waitingFor },
  };
}

/**
 * Keeps the time since which our container has not been ready. If the network counts as lost, later runs in the same
 * sandbox do not change this time. Otherwise, each new run sets a new time.
 */
function withLoss(pod: PodEvidence, before: PodEvidence, listed: boolean, now: number): PodEvidence {
  const { unready, sandboxSince } = pod;
  if (unready === undefined) return pod;
  const known = before.unready;
  const isSame = known?.run === unready.run || (isLost(before, now) && sandboxSince === before.sandboxSince);
  if (known !== undefined && isSame) return { ...pod, unready: known };
  return { ...pod, unready: { ...unready, at: listed ? unready.at : now, after: before.version } };
}
