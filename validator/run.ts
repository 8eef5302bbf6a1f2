import { withoutListener } from './checks/captured.ts';
import type { Witness } from './checks/witness.ts';
import type { Result } from './finding.ts';
import { handleDefects, sleep, watch } from './host/loop.ts';
import { native, pollEvent } from './host/native.ts';
import { helpFor, readArguments, readChecks, UsageError } from './input.ts';
import { leaveMessage, log, nameOf, sentenceOn, verdictSentence } from './log.ts';
import { plan, type Step } from './plan.ts';
import { readDevices, readPod } from './pod.ts';
import { prove, witnessIn } from './prove.ts';
import { hasPassed, readSandbox, rememberPass } from './sandbox.ts';
import { env, exitCode } from './shared/contract.ts';
import type { LaterMessage } from './shared/message.ts';
import { readSockets } from './sockets.ts';
import { exitCodeFor, terminationMessage, type Verdict, verdictOf } from './verdict.ts';

interface Progress {
  /** The path of the termination message; absent until the command line has been read. */
  terminationLog?: string;
  /** The steps in the order of the plan. */
  steps: readonly Step[];
  /** The results of the steps that have ended. */
  results: Map<Step, Result>;
  /** Whether an earlier run has passed in this sandbox. */
  isLater?: boolean;
}

/** Runs the checks that the environment requests, and ends the process with the verdict. */
export function run(): void {
  const help = helpFor(native.arguments());
  if (help !== undefined) {
    log(help);
    native.exit(exitCode.passed);
  }
  const progress: Progress = { steps: [], results: new Map() };
  // a signal means that the pod is being deleted, so it has no verdict
  const signals = native.signals();
  const stop = (): never => {
    const signal = native.readSignal(signals) as 'SIGTERM' | 'SIGINT' | 'SIGHUP';
    if (progress.isLater) rememberPass(false);
    return finish(progress, { verdict: 'stopped', code: exitCode[signal] }, stopped(signal, progress));
  };
  watch(signals, pollEvent.in, stop, true);
  const defect = (error: unknown): never =>
    finish(
      progress,
      { verdict: 'not-possible', code: exitCode.notPossible },
      `a defect of the validator: ${error}`,
    );
  handleDefects(defect);
  proveAll(progress).catch((error: unknown) => {
    if (!(error instanceof UsageError)) return defect(error);
    return finish(progress, { verdict: 'wrong-usage', code: exitCode.wrongUsage }, error.message);
  });
}

async function proveAll(progress: Progress): Promise<never> {
  progress.terminationLog = readArguments(native.arguments()).terminationLog;
  const asked = readChecks(native.environment()[env.checks]);
  const pod = readPod(native.environment(), native.userId(), readDevices, native.groupId());
  const steps = plan(asked, pod, readDevices);
  const witness = witnessIn(steps);
  if (witness !== undefined && hasPassed()) return waitAgain(witness, progress);
  progress.steps = steps;
  progress.results = await prove(steps, pod, (step, result) => {
    if (result === undefined) {
      progress.results.delete(step);
      return;
    }
    progress.results.set(step, result);
    log(sentenceOn(result));
  });
  return finish(progress, verdictOf([...progress.results.values()]));
}

/** Waits for the end of the pod. An earlier run passed in this sandbox, so a proxy may answer the probe now. */
async function waitAgain(witness: Witness, progress: Progress): Promise<never> {
  progress.isLater = true;
  const { inbound, exempt, family } = witness;
  const problem = 'a proof has passed in this sandbox before, so this run has no verdict';
  log(`${problem}: it waits for the end of the pod.`);
  const message = JSON.stringify({ sandbox: readSandbox(), problem } satisfies LaterMessage);
  if (progress.terminationLog !== undefined) leaveMessage(progress.terminationLog, message);
  while (inbound !== undefined && !exempt && withoutListener([inbound], family, readSockets()).length > 0) {
    await sleep(1000);
  }
  native.waitForSignal(addressAtRest(witness));
  return native.exit(exitCode.notPossible);
}

function stopped(signal: string, { steps, results }: Progress): string {
  const open = steps.filter((step) => !results.has(step));
  const names = open.map(({ profile, name, family }) => `${profile} ${nameOf(name, family)}`);
  const still = names.length === 0 ? '' : `, with these still open: ${names.join(', ')}`;
  return `${signal} came before the verdict${still}; the network is not the cause`;
}

function finish({ results, terminationLog }: Progress, verdict: Verdict, problem?: string): never {
  // only `warn` lets the pod start after a failure; an unknown mode has no effect
  const warn = native.environment()[env.mode] === 'warn';
  const report = {
    ...verdict,
    warn,
    sandbox: readSandbox(),
    seconds: native.now() / 1000,
    results: [...results.values()],
    ...(problem !== undefined && { problem }),
  };
  log(verdictSentence(report));
  if (terminationLog !== undefined) leaveMessage(terminationLog, terminationMessage(report));
  const witness = witnessIn([...results.keys()]);
  if (verdict.code === exitCode.passed && witness) {
    rememberPass(true);
    // a sidecar has to run as long as the pod
    native.waitForSignal(addressAtRest(witness));
  }
  // exits immediately, even with open connections
  native.exit(exitCodeFor(verdict, warn));
}

/** Where to listen after a pass: before Kubernetes 1.35, a kubelet that restarts repeats startup probes. */
const addressAtRest = ({ port, inbound, exempt, family }: Witness): string =>
  inbound === undefined || exempt ? `${family === 'IPv6' ? '[::]' : '0.0.0.0'}:${port}` : '';
