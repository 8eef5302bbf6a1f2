/**
 * `npm run bench validator`: the validator's time to the verdict, memory and file size, and proofs of 110 pods at once.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { environmentOf } from '../netns/harness/downward.ts';
import { inside } from '../netns/harness/namespaces.ts';
import { injected, specimens } from '../netns/harness/pods.ts';
import { startProof, validator } from '../netns/harness/proof.ts';
import { Sandbox } from '../netns/harness/sandbox.ts';
import { writeRules } from '../netns/rules/backends.ts';
import { linkerd } from '../netns/rules/linkerd.ts';
import { median } from './load.ts';
import { megabytes, rechecks } from './rechecks.ts';
import { type Row, report } from './report.ts';

const rounds = Number(process.env.CNI_GATE_BENCH_ROUNDS ?? 25);
/** The recommended maximum of pods on a node: https://kubernetes.io/docs/setup/best-practices/cluster-large/ */
const pods = Number(process.env.CNI_GATE_BENCH_PODS ?? 110);
/** A pod with all checks of two profiles: `address`, `gateway`, `roundTrip` and `redirect`. */
const specimen = { ...specimens.linkerd, profile: 'cilium.linkerd' };

/** The seconds from the start of a proof to its verdict. */
async function verdictTime(sandbox: Sandbox): Promise<number> {
  const { code, log } = await startProof(sandbox, specimen).ended;
  if (code !== 0) throw new Error(log);
  return Number(/^verdict: .* after ([\d.]+) s/m.exec(log)?.[1]);
}

/** The peak memory of a proof in MB. @param message a pipe for the proof's message; reading it lets the proof end */
async function peakOf(sandbox: Sandbox, message: string): Promise<number> {
  const running = startProof(sandbox, specimen, { messageTo: message });
  await running.started;
  await sleep(300);
  const peak = megabytes(running, 'status', 'VmHWM');
  await readFile(message);
  await running.ended;
  return peak;
}

/** Processor time of all ended child processes, in seconds: proc_pid_stat(5), `cutime` and `cstime`. */
function childrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Runs a command in all sandboxes at the same time. @returns the processor time in seconds */
async function atOnce(sandboxes: Sandbox[], command: string[]): Promise<number> {
  const { pod, container } = injected(specimen);
  const env = environmentOf(container, { pod, podIPs: ['10.244.1.7'] });
  const before = childrenSeconds();
  const children = sandboxes.map((sandbox) => {
    const [program, args] = inside(sandbox.pod, ...command);
    return spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  });
  const ends = await Promise.all(children.map((child) => once(child, 'close')));
  const failed = ends.filter(([code]) => code !== 0);
  if (failed.length > 0) throw new Error(`${failed.length} of ${ends.length} failed, one with ${failed[0]}`);
  return childrenSeconds() - before;
}

await using dual = await Sandbox.make();
await using ipv4 = await Sandbox.make({ families: 'ipv4' });
for (const sandbox of [dual, ipv4]) {
  await writeRules(sandbox, linkerd());
  // disables the limits for ICMP, which repeated rounds would exceed; a real pod needs only one answer from its node
  await sandbox.exec('node', 'sh', [
    '-c',
    'echo 0 | tee /proc/sys/net/ipv4/icmp_ratelimit /proc/sys/net/ipv6/icmp/ratelimit',
  ]);
}
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
dual.onRemoval(() => rmSync(folder, { recursive: true }));
const message = join(folder, 'message');
spawnSync('mkfifo', ['-m', '666', message]);
const row = (figure: string, conditions: string, measured: number, unit: string, atMost: number): Row => ({
  figure,
  conditions,
  measured,
  unit,
  aim: { atMost },
});
const rows: Row[] = [];
for (const [name, sandbox] of Object.entries({ 'IPv4 pod': ipv4, 'dual-stack pod': dual })) {
  const verdicts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    verdicts.push((await verdictTime(sandbox)) * 1000);
  }
  rows.push(
    row('program start to verdict', name, median(verdicts), 'ms', 5),
    row('peak resident memory', name, await peakOf(sandbox, message), 'MB', 3),
  );
}
rows.push(
  row('program file', 'compressed with gzip', gzipSync(readFileSync(validator)).length / 1000, 'kB', 900),
);

if (pods > 0) {
  const sandboxes: Sandbox[] = [];
  try {
    for (let made = 0; made < pods; made++) {
      const sandbox = await Sandbox.make({ families: 'ipv4' });
      sandboxes.push(sandbox);
      await writeRules(sandbox, linkerd());
    }
    const log = ['--termination-log', '/dev/null'];
    const start = await atOnce(sandboxes, ['true']);
    const processor = await atOnce(sandboxes, [validator, 'validate', ...log]);
    const what = `CPU time of ${pods} proofs at once`;
    rows.push(row(what, 'without process start', processor - start, 's', 0.5));
  } finally {
    for (const sandbox of sandboxes) await sandbox[Symbol.asyncDispose]();
  }
}
rows.push(...(await rechecks(rounds)));
report('validator', rows);
