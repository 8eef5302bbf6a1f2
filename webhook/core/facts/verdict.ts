import { exitCode } from '../../../validator/shared/contract.ts';
import { readMessage } from '../../../validator/shared/message.ts';
import { validatorContainer } from '../../lib/names.ts';
import type { ContainerStatus, PodStatus, Terminated } from './api.ts';
import type { Verdict } from './pod-evidence.ts';

/** What the meaning of an exit code depends on. */
export interface ProofContext {
  /** Whether the init container runs the network's own validator instead of ours. */
  foreign: boolean;
  /** Whether the pod is being deleted. */
  leaving: boolean;
  /** Whether the init container has `restartPolicy: Always`, and therefore a startup probe. */
  sidecar: boolean;
}

/** A verdict, and how the run ended; `ended` is undefined for `waiting`, and if the status no longer shows the run. */
interface ProofResult {
  verdict: Verdict;
  ended: Terminated | undefined;
}

/** The exit codes of our validator that give a verdict. Every other code is a crash or a signal. */
const verdictsByCode: ReadonlyMap<number, Verdict> = new Map<number, Verdict>([
  [exitCode.passed, 'passed'],
  [exitCode.failed, 'failed'],
  [exitCode.notPossible, 'not-possible'],
  [exitCode.wrongUsage, 'wrong-usage'],
]);

/** Exit codes of a run that a signal ended before its verdict: 128 plus the signal's number. */
const stopped = new Set<number>([exitCode.SIGHUP, exitCode.SIGINT, exitCode.SIGTERM, 128 + 9]);

/** The condition in which the kubelet reports whether the pod has a sandbox (beta since Kubernetes 1.29). */
export const sandboxCondition = 'PodReadyToStartContainers';

/**
 * The kubelet may report a run's sandbox at most this many milliseconds after the run ended. If the condition changes
 * later than that, the pod has a new sandbox.
 */
const longestUpdate = 10_000;

export const conditionOf = ({ conditions }: Pick<PodStatus, 'conditions'>, type: string) =>
  conditions?.find((condition) => condition.type === type);

/** The status of our init container; undefined if the kubelet has not reported it yet. */
export const validatorStatus = ({ initContainerStatuses }: PodStatus): ContainerStatus | undefined =>
  initContainerStatuses?.find(isValidator);

const isValidator = ({ name }: ContainerStatus): boolean => name === validatorContainer;

/**
 * Whether any other container has started in the pod's current sandbox, after the latest run of our container began.
 * The pod's phase does not show this: after a reboot, it is still `Running` (Kubernetes 1.36).
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

/** When the pod got its sandbox, in milliseconds since the epoch; undefined if no condition shows a sandbox. */
export function sandboxSince(status: PodStatus): number | undefined {
  const sandbox = conditionOf(status, sandboxCondition);
  return sandbox?.status === 'True' ? timeOf(sandbox.lastTransitionTime) : undefined;
}

/**
 * The verdict of our init container in the pod's current sandbox. After a reboot, `state` shows the earlier run until
 * the new run ends, so a pass in `state` does not count if the sandbox is newer and no other container has started in
 * it. A pass in `lastState` never counts; other results there count only in the same sandbox.
 */
export function resultOf(
  status: PodStatus,
  context: ProofContext = { foreign: false, leaving: false, sidecar: false },
): ProofResult {
  const waiting: ProofResult = { verdict: 'waiting', ended: undefined };
  const { state, lastState, started, containerID } = validatorStatus(status) ?? {};
  // a sidecar has passed once its startup probe passes, and then runs until a signal ends it
  const since = context.sidecar && started === true ? state?.running?.startedAt : undefined;
  const now = since
    ? { exitCode: exitCode.passed, startedAt: since, finishedAt: since, containerID: containerID ?? null }
    : state?.terminated;
  const isOver = status.phase === 'Succeeded' || status.phase === 'Failed';
  const sandbox = conditionOf(status, sandboxCondition);
  // a pod that has ended no longer has its sandbox, but its verdict still counts
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
  // after exit code 0 (in warn mode, every run has it), the kubelet runs the container again only in a new sandbox
  if (run.exitCode === exitCode.passed) return waiting;
  const isOlder = (timeOf(run.finishedAt) ?? 0) < (timeOf(sandbox?.lastTransitionTime) ?? 0);
  return !isOver && run.finishedAt && isOlder ? waiting : { verdict, ended: run };
}

/**
 * Whether our container, as a sidecar, passed in this sandbox before its current run: only then does the kubelet start
 * later containers (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/). Init containers are listed
 * in order. In a mesh, the proxy starts after our container, and answers the startup probe of our later runs.
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

/** The verdict of a single run, by how it ended; the sandbox is not considered. */
function verdictOfRun(run: Terminated, { foreign, leaving }: ProofContext): Verdict {
  const { exitCode: code, reason } = run;
  if (reason === 'OOMKilled') return 'crashed';
  if (stopped.has(code)) return 'waiting';
  if (!foreign) return code === exitCode.passed ? inWarnMode(run) : (verdictsByCode.get(code) ?? 'crashed');
  // all other codes below 128 are failures: Istio's validator exits with 126, and other validators choose their own
  const verdict = verdictsByCode.get(code);
  if (verdict !== undefined && verdict !== 'failed') return verdict;
  if (code < 0 || code >= 128) return 'crashed';
  // linkerd's validator also exits with 95 on SIGTERM, so 95 means nothing in a pod that is being deleted
  return leaving ? 'waiting' : 'failed';
}

/** The verdict of exit code 0. In warn mode, every run exits with 0, and its message has the actual code. */
function inWarnMode({ message }: Terminated): Verdict {
  const { code } = readMessage(message);
  return code === undefined ? 'passed' : (verdictsByCode.get(code) ?? 'crashed');
}

/** Parses a time of an object to milliseconds since the epoch; undefined if the text is missing or is not a time. */
export function timeOf(text: string | null | undefined): number | undefined {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
