import { exitCode } from '../../../validator/shared/contract.ts';
import { readMessage } from '../../../validator/shared/message.ts';
import { validatorContainer } from '../../lib/names.ts';
import type { ContainerStatus, PodStatus, Terminated } from './api.ts';
import type { Verdict } from './pod-evidence.ts';

/** What else decides about the meaning of an exit code. */
export interface ProofContext {
  /** Whether the init container runs the network's own validator instead of ours. */
  foreign: boolean;
  /** Whether the pod is being deleted. */
  leaving: boolean;
  /** Whether the init container has `restartPolicy: Always`, and so a startup probe. */
  sidecar: boolean;
}

/** The verdict of a run, and how the run ended; undefined for `waiting`, and if a run passed that is not shown any more. */
export interface ProofResult {
  verdict: Verdict;
  ended: Terminated | undefined;
}

/** Exit codes of our program with a verdict. Every other code is a crash or a signal. */
const verdictsByCode: ReadonlyMap<number, Verdict> = new Map<number, Verdict>([
  [exitCode.passed, 'passed'],
  [exitCode.failed, 'failed'],
  [exitCode.notPossible, 'not-possible'],
  [exitCode.wrongUsage, 'wrong-usage'],
]);

/** Codes of a run that a signal ended before it had a verdict: 128 and the signal's number. */
const stopped = new Set<number>([exitCode.SIGHUP, exitCode.SIGINT, exitCode.SIGTERM, 128 + 9]);

/** The condition by which the kubelet says whether the pod has a sandbox (beta since Kubernetes 1.29). */
export const sandboxCondition = 'PodReadyToStartContainers';

/** How long after the end of our container the kubelet may write that the pod has a sandbox, in milliseconds. */
const longestUpdate = 10_000;

export const conditionOf = ({ conditions }: Pick<PodStatus, 'conditions'>, type: string) =>
  conditions?.find((condition) => condition.type === type);

/** The status of our init container; undefined where the kubelet has not written one. */
export const validatorStatus = ({ initContainerStatuses }: PodStatus): ContainerStatus | undefined =>
  initContainerStatuses?.find(isValidator);

const isValidator = ({ name }: ContainerStatus): boolean => name === validatorContainer;

/**
 * Whether a container other than ours has started in the pod's current sandbox: after the sandbox was there, and after
 * the latest run of ours. The phase does not say it: after a reboot the kubelet reports `Running` (Kubernetes 1.36).
 */
export function hasStarted(status: PodStatus): boolean {
  const { initContainerStatuses, containerStatuses } = status;
  const ours = validatorStatus(status);
  const began = (container: ContainerStatus | undefined): number | undefined =>
    timeOf(
      (container?.state?.running ?? container?.state?.terminated ?? container?.lastState?.terminated)
        ?.startedAt,
    );
  const since = Math.max(sandboxSince(status) ?? Number.POSITIVE_INFINITY, began(ours) ?? 0);
  return [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].some(
    (container) => container !== ours && (!!container.state?.running || (began(container) ?? 0) >= since),
  );
}

/** Since when the pod has its sandbox, in milliseconds since the epoch; undefined if it has none, or does not say. */
export function sandboxSince(status: PodStatus): number | undefined {
  const sandbox = conditionOf(status, sandboxCondition);
  return sandbox?.status === 'True' ? timeOf(sandbox.lastTransitionTime) : undefined;
}

/**
 * The verdict of our init container in the pod's current sandbox. After a reboot the kubelet shows the earlier run in
 * `state` for some seconds, until the new one ends. So a pass does not count if the sandbox is newer and nothing has
 * started in it; a pass in `lastState` never counts; any other result does not if the sandbox is newer.
 */
export function resultOf(
  status: PodStatus,
  context: ProofContext = { foreign: false, leaving: false, sidecar: false },
): ProofResult {
  const waiting: ProofResult = { verdict: 'waiting', ended: undefined };
  const { state, lastState, started, containerID } = validatorStatus(status) ?? {};
  // a sidecar whose startup probe passed: it waits for a signal since its verdict
  const since = context.sidecar && started === true ? state?.running?.startedAt : undefined;
  const now = since
    ? { exitCode: exitCode.passed, startedAt: since, finishedAt: since, containerID: containerID ?? null }
    : state?.terminated;
  const isOver = status.phase === 'Succeeded' || status.phase === 'Failed';
  const sandbox = conditionOf(status, sandboxCondition);
  // a pod that ended has no sandbox any more, and a verdict all the same
  if (!isOver && sandbox?.status === 'False') return waiting;
  if (context.sidecar && hasPassedBefore(status, now, isOver)) return { verdict: 'passed', ended: undefined };
  const run = now ?? lastState?.terminated;
  if (!run) return waiting;
  const verdict = verdictOfRun(run, context);
  if (verdict === 'waiting') return waiting;
  if (now) {
    const isPass = now.exitCode === exitCode.passed;
    const newer = (sandboxSince(status) ?? 0) - (timeOf(now.finishedAt) ?? Number.POSITIVE_INFINITY);
    const isEarlier = !isOver && isPass && newer > longestUpdate && !hasStarted(status);
    return isEarlier ? waiting : { verdict, ended: run };
  }
  // a run that ended with 0, in warn mode too, is repeated only in another sandbox
  if (run.exitCode === exitCode.passed) return waiting;
  const isOlder = (timeOf(run.finishedAt) ?? 0) < (timeOf(sandbox?.lastTransitionTime) ?? 0);
  return !isOver && run.finishedAt && isOlder ? waiting : { verdict, ended: run };
}

/**
 * Whether a sidecar passed in this sandbox before its current run: the kubelet starts the containers after it only then
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/), and lists init containers in their order.
 * In a mesh, the proxy is one of them and answers the startup probe of every later run.
 */
function hasPassedBefore(status: PodStatus, now: Terminated | undefined | null, isOver: boolean): boolean {
  const inits = status.initContainerStatuses ?? [];
  const own = inits.findIndex(isValidator);
  if (own < 0) return false;
  const isPass = now?.exitCode === exitCode.passed;
  const later = [...inits.slice(own + 1), ...(status.containerStatuses ?? [])];
  const starts = later.flatMap(({ state }) => {
    const run = state?.running ?? (isPass && isOver ? state?.terminated : undefined);
    return timeOf(run?.startedAt) ?? [];
  });
  return isPass ? starts.some((at) => at < (timeOf(now.startedAt) ?? 0)) : starts.length > 0;
}

/** What the end of a run means, whatever its sandbox. */
function verdictOfRun(run: Terminated, { foreign, leaving }: ProofContext): Verdict {
  const { exitCode: code, reason } = run;
  if (reason === 'OOMKilled') return 'crashed';
  if (stopped.has(code)) return 'waiting';
  if (!foreign) return code === exitCode.passed ? inWarnMode(run) : (verdictsByCode.get(code) ?? 'crashed');
  // all other codes below 128 are failures: Istio's validator ends with 126, others with what they like
  const verdict = verdictsByCode.get(code);
  if (verdict !== undefined && verdict !== 'failed') return verdict;
  if (code < 0 || code >= 128) return 'crashed';
  // linkerd's validator ends with 95 on SIGTERM too, so in a pod that is being deleted that says nothing
  return leaving ? 'waiting' : 'failed';
}

/** In warn mode the program ends with 0 whatever it found, and its message has the code that it would have ended with. */
function inWarnMode({ message }: Terminated): Verdict {
  const { code } = readMessage(message);
  return code === undefined ? 'passed' : (verdictsByCode.get(code) ?? 'crashed');
}

/** A time of an object in milliseconds since the epoch; undefined if there is none. */
export function timeOf(text: string | null | undefined): number | undefined {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
