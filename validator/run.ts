import type { Witness } from './checks/witness.ts';
import type { Result } from './finding.ts';
import { handleDefects, watch } from './host/loop.ts';
import { native, pollEvent, readText } from './host/native.ts';
import { helpFor, readArguments, readChecks, UsageError } from './input.ts';
import { leaveMessage, log, nameOf, sentenceOn, verdictSentence } from './log.ts';
import { plan, type Step } from './plan.ts';
import { readDevices, readPod } from './pod.ts';
import { prove, witnessIn } from './prove.ts';
import { env, exitCode } from './shared/contract.ts';
import { exitCodeFor, type Sandbox, terminationMessage, type Verdict, verdictOf } from './verdict.ts';

/** The state of the run: a signal may end it at any time. */
interface Progress {
  /** The file of the termination message, once the command line was read. */
  terminationLog?: string;
  open: Set<Step>;
  /** The result of each step that ended. */
  results: Map<Step, Result>;
}

/** Runs the checks of the environment, and ends the process with the verdict. */
export function run(): void {
  const help = helpFor(native.arguments());
  if (help !== undefined) {
    log(help);
    native.exit(exitCode.passed);
  }
  const progress: Progress = { open: new Set(), results: new Map() };
  // the pod is being deleted
  const signals = native.signals();
  const stop = (): never => {
    const signal = native.readSignal(signals) as 'SIGTERM' | 'SIGINT' | 'SIGHUP';
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
  progress.open = new Set(steps);
  progress.results = await prove(steps, pod, (step, result) => {
    if (result === undefined) {
      progress.open.add(step);
      progress.results.delete(step);
      return;
    }
    progress.open.delete(step);
    progress.results.set(step, result);
    log(sentenceOn(result));
  });
  return finish(progress, verdictOf([...progress.results.values()]));
}

function stopped(signal: string, { open }: Progress): string {
  const names = [...open].map(({ profile, word, family }) => `${profile} ${nameOf(word, family)}`);
  const still = names.length === 0 ? '' : `, with these still open: ${names.join(', ')}`;
  return `${signal} came before the verdict${still}; the network is not the cause`;
}

/** Writes the verdict to the log and to the termination message, and exits. */
function finish({ results, terminationLog }: Progress, verdict: Verdict, problem?: string): never {
  // only `warn` lets a pod start: an unknown mode counts as absent
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
  // the kubelet runs the container for as long as the pod
  const witness = witnessIn([...results.keys()]);
  if (verdict.code === exitCode.passed && witness) native.waitForSignal(addressAtRest(witness));
  // open connections must not delay the exit
  native.exit(exitCodeFor(verdict, warn));
}

/**
 * Where the program listens for as long as the pod runs: kubelets before Kubernetes 1.35 dial startup probes again when
 * they restart. In a mesh the proxy listens.
 */
const addressAtRest = ({ port, inbound, family }: Witness): string =>
  inbound === undefined ? `${family === 'IPv6' ? '[::]' : '0.0.0.0'}:${port}` : '';

/** The sandbox that this process runs in. */
function readSandbox(): Sandbox {
  return {
    // the number in `net:[4026532008]`: namespaces(7)
    netns: /\d+/.exec(readText('/proc/self/ns/net', native.readLink))?.[0] ?? '',
    bootId: readText('/proc/sys/kernel/random/boot_id').trim(),
  };
}
