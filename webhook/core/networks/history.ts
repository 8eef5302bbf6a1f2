import type { PodEvidence, ShownPass } from '../facts/pod-evidence.ts';

/** Identifies the run that led to the verdict; undefined if the pod shows none. */
const runOf = ({ run, startedAt }: PodEvidence): number | undefined => run ?? startedAt;

/** The pod's last proof that passed; undefined if none is known. */
function lastPassOf(pod: PodEvidence): ShownPass | undefined {
  const run = pod.verdict === 'passed' ? runOf(pod) : undefined;
  return pod.passedBefore ?? (run === undefined ? undefined : { run, sandbox: pod.sandboxSince });
}

/** Whether a new run passed in a new sandbox. In the old sandbox, a mesh's proxy answers the probes of later runs. */
export function isNewPass(pod: PodEvidence, before: PodEvidence | undefined): boolean {
  const run = runOf(pod);
  if (pod.verdict !== 'passed' || run === undefined) return false;
  const last = before && lastPassOf(before);
  if (last === undefined) return true;
  return last.run !== run && (last.sandbox === undefined || last.sandbox !== pod.sandboxSince);
}

/** Adds what is remembered about a pod to what a watch shows. @param before the result for its previous version */
export function withHistory(shown: PodEvidence, before: PodEvidence): PodEvidence {
  const pod = withFailure(shown, before);
  const last = lastPassOf(before);
  if (last === undefined || isNewPass(pod, before)) return pod;
  // the usual case: the pod itself shows its last pass
  if (pod.verdict === 'passed' && runOf(pod) === last.run) return pod;
  return { ...pod, passedBefore: last };
}

/** Keeps the first failure of a pod that fails again and again. In the same sandbox, only a pass ends the failure. */
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
