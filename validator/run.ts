import { withoutListener } from './checks/connect.ts';
import { cannotListen } from './checks/redirect.ts';
import type { Witness } from './checks/witness.ts';
import type { Result } from './finding.ts';
import { close, handleDefects, sleep, watch } from './host/loop.ts';
import { native, pollEvent } from './host/native.ts';
import { accepting } from './host/tcp.ts';
import { helpFor, type Rechecks, readArguments, readChecks, readContinuous, UsageError } from './input.ts';
import { leaveMessage, log, sentenceOn, verdictSentence } from './log.ts';
import { plan, type Step } from './plan.ts';
import { readDevices, readPod } from './pod.ts';
import { prove, witnessIn } from './prove.ts';
import {
  adoptListeners,
  type Memory,
  openReadiness,
  readMemory,
  recheck,
  rest,
  restAfterPass,
} from './recheck.ts';
import { hasPassed, readSandbox, rememberPass } from './sandbox.ts';
import { env, exitCode } from './shared/contract.ts';
import type { LaterMessage } from './shared/message.ts';
import { readListeners } from './sockets.ts';
import { exitCodeFor, terminationMessage, type Verdict, verdictOf } from './verdict.ts';

interface Progress {
  /** The path of the termination message; absent until the command line has been read. */
  terminationLog?: string;
  /** The results of the steps that have ended. */
  results: Map<Step, Result>;
  /** Whether an earlier run has passed in this sandbox. */
  isLater?: boolean;
  /** The settings of rechecks; absent if the proof ends with the verdict. */
  settings?: Rechecks | undefined;
  /** The listener for the readiness probe, or -1. */
  readiness: number;
}

/**
 * Runs the checks that the environment requests, or makes a recheck. Ends the process, or rests as long as the pod
 * runs.
 */
export function run(): void {
  const help = helpFor(native.arguments());
  if (help !== undefined) {
    log(help);
    native.exit(exitCode.passed);
  }
  const progress: Progress = { results: new Map(), readiness: -1 };
  const memory = readMemory(native.arguments());
  if (memory !== undefined) {
    runAgain(memory);
    return;
  }
  // a signal means that the pod is being deleted, so there is no verdict
  const signals = native.signals();
  const stop = (): never => {
    const signal = native.readSignal(signals) as 'SIGTERM' | 'SIGINT' | 'SIGHUP';
    if (progress.isLater) rememberPass(false);
    const problem = `${signal} arrived before the verdict; the network is not the cause`;
    return finish(progress, { verdict: 'stopped', code: exitCode[signal] }, problem);
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

/** Makes a recheck, without a verdict: a signal ends the process with exit code 0, and a defect is only logged. */
function runAgain(memory: Memory): void {
  watch(native.signals(), pollEvent.in, () => native.exit(exitCode.passed), true);
  adoptListeners(memory);
  const defect = (error: unknown): never => {
    log(`a defect of the validator: ${error}`);
    return rest(memory, 60_000);
  };
  handleDefects(defect);
  const { settings, ...given } = readEnvironment();
  if (settings !== undefined) recheck(memory, settings, given).catch(defect);
}

async function proveAll(progress: Progress): Promise<never> {
  progress.terminationLog = readArguments(native.arguments()).terminationLog;
  const { pod, steps, witness, settings } = readEnvironment();
  progress.settings = settings;
  if (witness !== undefined && hasPassed()) return waitAgain(witness, progress);
  // opened before the kubelet connects to the startup probe's port, because the readiness probe begins after that
  const port = progress.settings?.port;
  const readiness = port && witness ? openReadiness(port, witness) : -1;
  if (typeof readiness === 'string') {
    const { seen } = cannotListen(port ?? 0, witness?.family ?? 'IPv4', readiness);
    const verdict: Verdict = { verdict: 'not-possible', code: exitCode.notPossible };
    return finish(progress, verdict, `the port of the readiness probe: ${seen}`);
  }
  progress.readiness = readiness;
  progress.results = await prove(steps, pod, (step, result) => {
    progress.results.set(step, result);
    log(sentenceOn(result));
  });
  return finish(progress, verdictOf([...progress.results.values()]));
}

/** Reads the environment that the webhook and the kubelet set, and plans the steps. @throws UsageError */
function readEnvironment() {
  const environment = native.environment();
  const asked = readChecks(environment[env.checks]);
  const settings = readContinuous(environment[env.continuous], asked);
  const pod = readPod(environment, native.userId(), readDevices, native.groupId());
  const steps = plan(asked, pod, readDevices);
  return { pod, steps, witness: witnessIn(steps), settings };
}

/**
 * Waits for the end of the pod, or makes rechecks, because a proof has passed in this sandbox before. If a proxy gets
 * the startup probe, first waits until the proxy listens.
 */
async function waitAgain(witness: Witness, progress: Progress): Promise<never> {
  progress.isLater = true;
  const { inbound, exempt, family } = witness;
  const problem = 'a proof has passed in this sandbox before, so this run has no verdict';
  const goesOn = progress.settings
    ? 'repeats the checks, and opens the readiness port when they pass'
    : 'waits for the end of the pod';
  log(`${problem}: it ${goesOn}.`);
  const message = JSON.stringify({ sandbox: readSandbox(), problem } satisfies LaterMessage);
  if (progress.terminationLog !== undefined) leaveMessage(progress.terminationLog, message);
  while (inbound !== undefined && !exempt && withoutListener([inbound], family, readListeners()).length > 0) {
    await sleep(1000);
  }
  return rest({ failures: 0, readiness: -1, startup: startupListener(witness) }, progress.settings ? 0 : -1);
}

function finish(progress: Progress, verdict: Verdict, problem?: string): never {
  const { results, terminationLog, settings, readiness } = progress;
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
    const memory = { failures: 0, readiness, startup: startupListener(witness) };
    if (settings !== undefined) restAfterPass(settings, memory, [...results.keys()]);
    rest(memory);
  }
  // exits immediately, even if connections are open
  native.exit(exitCodeFor(verdict, warn));
}

/** Listens for startup probes after a pass, unless the proxy gets them. Returns -1 without a listener. */
function startupListener({ port, inbound, exempt, family }: Witness): number {
  const opened = inbound === undefined || exempt ? accepting(port, family, close) : -1;
  return typeof opened === 'number' ? opened : -1;
}
