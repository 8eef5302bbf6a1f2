/**
 * `npm run bench validator [-- --report PAGE]`: start to verdict, memory and size of the validator, beside a bare
 * `node -e 0`, in sandboxes with linkerd's rules and the container that the webhook injects; and the processor time of a
 * node that starts 110 pods at once. Needs what the netns tests need.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type ContainerEnd, startContainer } from '../netns/harness/container.ts';
import { environmentOf } from '../netns/harness/downward.ts';
import { requireMachine } from '../netns/harness/machine.ts';
import { inside } from '../netns/harness/namespaces.ts';
import { injected, specimens } from '../netns/harness/pods.ts';
import { startProof, validator } from '../netns/harness/proof.ts';
import { Sandbox } from '../netns/harness/sandbox.ts';
import { writeRules } from '../netns/rules/backends.ts';
import { linkerd } from '../netns/rules/linkerd.ts';
import { median } from './load.ts';
import { type Aim, type Row, report } from './report.ts';

const rounds = Number(process.env.CNI_GATE_BENCH_ROUNDS ?? 25);
/** The most pods of a node: https://kubernetes.io/docs/setup/best-practices/cluster-large/ */
const pods = Number(process.env.CNI_GATE_BENCH_PODS ?? 110);
const bare = 'node -e 0';
/** All checks of two profiles: `address`, `gateway`, `roundTrip` and `redirect`. */
const specimen = { ...specimens.linkerd, profile: 'cilium.linkerd' };

interface Subject {
  /** @param message where the program writes its termination message */
  start(message?: string): Promise<ContainerEnd>;
  /** It writes a termination message, so its memory can be read before it ends. */
  leavesMessage?: true;
}

function node(sandbox: Sandbox, ...args: string[]): Subject {
  const identity = { user: 64_532, group: 64_532, environment: {}, mounts: {} };
  return { start: () => startContainer(sandbox, { args, ...identity }).ended };
}

function proof(sandbox: Sandbox): Subject {
  return {
    start: async (message) => {
      const options = message === undefined ? {} : { messageTo: message };
      const { ended, started } = startProof(sandbox, specimen, options);
      if (message === undefined) return sound(await ended);
      // it waits for a reader of the pipe, and meanwhile its peak is read
      await started;
      await sleep(300);
      await readFile(message);
      return ended;
    },
    leavesMessage: true,
  };
}

function sound(ended: ContainerEnd): ContainerEnd {
  if (ended.code !== 0) throw new Error(ended.log);
  return ended;
}

/** Seconds of processor time of all ended children: proc_pid_stat(5), `cutime` and `cstime`. */
function childrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Starts a command in every sandbox at once. Returns seconds of processor time, and until the last one ended. */
async function atOnce(sandboxes: Sandbox[], command: string[]): Promise<{ processor: number; all: number }> {
  const { pod, container } = injected(specimen);
  const env = environmentOf(container, { pod, podIPs: ['10.244.1.7'] });
  const [before, since] = [childrenSeconds(), performance.now()];
  const children = sandboxes.map((sandbox) => {
    const [program, args] = inside(sandbox.pod, ...command);
    return spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  });
  const ends = await Promise.all(children.map((child) => once(child, 'close')));
  const failed = ends.filter(([code]) => code !== 0);
  if (failed.length > 0) throw new Error(`${failed.length} of ${ends.length} failed, one with ${failed[0]}`);
  return { processor: childrenSeconds() - before, all: (performance.now() - since) / 1000 };
}

await requireMachine();
await using dual = await Sandbox.make();
await using ipv4 = await Sandbox.make({ families: 'ipv4' });
for (const sandbox of [dual, ipv4]) {
  await writeRules(sandbox, linkerd());
  // a pod asks its node once, not in every round
  await sandbox.exec('node', 'sh', [
    '-c',
    'echo 0 | tee /proc/sys/net/ipv4/icmp_ratelimit /proc/sys/net/ipv6/icmp/ratelimit',
  ]);
}
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
dual.onRemoval(() => rmSync(folder, { recursive: true }));
const message = join(folder, 'message');
spawnSync('mkfifo', ['-m', '666', message]);
const subjects: Record<string, Subject> = {
  // ends before it has made anything: what it takes to start a container here, which is part of every row
  'node --version': node(dual, '--version'),
  [bare]: node(dual, '-e', '0'),
  'host, IPv4': proof(ipv4),
  'host, dual-stack': proof(dual),
};

const times = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
const verdicts = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
const peaks = new Map<string, number>();
for (let round = 0; round < rounds; round++) {
  for (const [name, { start }] of Object.entries(subjects)) {
    const { milliseconds, log } = await start();
    times.get(name)?.push(milliseconds);
    verdicts.get(name)?.push(Number(/^verdict: .* after ([\d.]+) s/m.exec(log)?.[1]) * 1000);
  }
}
for (const [name, { start, leavesMessage }] of Object.entries(subjects))
  if (leavesMessage) peaks.set(name, ((await start(message)).peakKiB * 1024) / 1e6);

const ofBare = median(times.get(bare) ?? []);
/** Those of the program that ships have an aim. */
const row = (figure: string, name: string, measured: number, unit: string, aim?: Aim): Row => ({
  figure,
  conditions: name,
  measured,
  unit,
  ...(aim && name.startsWith('host') && { aim }),
});
const rows: Row[] = [];
for (const [name, own] of verdicts)
  if (peaks.has(name))
    rows.push(row("the program's own time to the verdict", name, median(own), 'ms', { atMost: 5 }));
for (const [name, taken] of times) rows.push(row('container, start to end', name, median(taken), 'ms'));
for (const [name, taken] of times)
  rows.push(row('container, start to end', name, median(taken) / ofBare, `× ${bare}`));
for (const [name, peak] of peaks) rows.push(row('most resident memory', name, peak, 'MB', { atMost: 3 }));
rows.push(row('file', 'host', statSync(validator).size / 1000, 'kB'));
const compressed = gzipSync(readFileSync(validator)).length / 1000;
rows.push(row('file, gzip', 'host', compressed, 'kB', { atMost: 900 }));

if (pods > 0) {
  const sandboxes: Sandbox[] = [];
  try {
    for (let made = 0; made < pods; made++) {
      const sandbox = await Sandbox.make({ families: 'ipv4' });
      sandboxes.push(sandbox);
      await writeRules(sandbox, linkerd());
    }
    const log = ['--termination-log', '/dev/null'];
    const start = (await atOnce(sandboxes, ['true'])).processor;
    const what = `${pods} pods at once`;
    const { processor, all } = await atOnce(sandboxes, [validator, 'validate', ...log]);
    rows.push(
      row(`${what}: processor time beside that of starting them`, 'host', processor - start, 's', {
        atMost: 0.5,
      }),
      row(`${what}: until the last one ended`, 'host', all, 's'),
    );
  } finally {
    for (const sandbox of sandboxes) await sandbox[Symbol.asyncDispose]();
  }
}
report('validator', rows);
