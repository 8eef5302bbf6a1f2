/**
 * `npm run bench:validator [-- <options of Node>]`: start to verdict and memory of the validator beside a bare
 * `node -e 0`, in sandboxes with linkerd's rules and the container that the webhook injects; given options, the same
 * with those besides. Needs what the netns tests need.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ContainerEnd, startContainer } from '../netns/harness/container.ts';
import { requireMachine } from '../netns/harness/machine.ts';
import { specimens } from '../netns/harness/pods.ts';
import { type ProofOptions, startProof } from '../netns/harness/proof.ts';
import { Sandbox } from '../netns/harness/sandbox.ts';
import { writeRules } from '../netns/rules/backends.ts';
import { linkerd } from '../netns/rules/linkerd.ts';

const rounds = 25;
const bundle = fileURLToPath(new URL('../../dist/validator/main.js', import.meta.url));
const bare = 'node -e 0';

/** Leaves what the kernel tells of its memory at the end of the log: proc_pid_status(5). */
const tellMemory = `process.on('exit', () => {
  const fs = process.getBuiltinModule('node:fs');
  fs.writeSync(1, fs.readFileSync('/proc/self/status'));
});\n`;

interface Subject {
  start(): Promise<ContainerEnd>;
  /** The same with {@link tellMemory}, which takes time. */
  startTelling?(): Promise<ContainerEnd>;
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function node(sandbox: Sandbox, ...args: string[]): Promise<ContainerEnd> {
  return startContainer(sandbox, { args, user: 65_532, group: 65_532, environment: {}, mounts: {} }).ended;
}

function proof(sandbox: Sandbox, telling: string, flags: string[] = []): Subject {
  const start = async (options: ProofOptions): Promise<ContainerEnd> => {
    const ended = await startProof(sandbox, specimens.linkerd, options).ended;
    if (ended.code !== 0) throw new Error(ended.log);
    return ended;
  };
  return { start: () => start({ flags }), startTelling: () => start({ flags, program: telling }) };
}

/** MiB that a line of the status tells in KiB. */
const mebibytes = (log: string, line: string): number =>
  Number(new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(log)?.[1]) / 1024;

await requireMachine();
await using dual = await Sandbox.make();
await using ipv4 = await Sandbox.make({ families: 'ipv4' });
for (const sandbox of [dual, ipv4]) await writeRules(sandbox, linkerd());
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
dual.onRemoval(() => rmSync(folder, { recursive: true }));
const telling = join(folder, 'telling.mjs');
writeFileSync(telling, tellMemory + readFileSync(bundle, 'utf8'));
const flags = process.argv.slice(2);
const subjects: Record<string, Subject> = {
  // ends before it has made anything: what it takes to start a container here, which is part of every row
  'node --version': { start: () => node(dual, '--version') },
  [bare]: { start: () => node(dual, '-e', '0'), startTelling: () => node(dual, '-e', tellMemory) },
  'linkerd proved, IPv4': proof(ipv4, telling),
  'linkerd proved, dual-stack': proof(dual, telling),
  ...(flags.length > 0 && { [`dual-stack, ${flags.join(' ')}`]: proof(dual, telling, flags) }),
};

const times = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
const logs = new Map<string, string[]>(Object.keys(subjects).map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, { start, startTelling }] of Object.entries(subjects)) {
    times.get(name)?.push((await start()).milliseconds);
    logs.get(name)?.push((await startTelling?.())?.log ?? '');
  }
}
const ofBare = median(times.get(bare) ?? []);
console.log(
  `Node ${process.version}; the bundle is ${statSync(bundle).size} bytes; medians of ${rounds} rounds; memory at its most, and what of it is not the file of Node`,
);
for (const [name, taken] of times) {
  const time = median(taken);
  const [peak, own] = ['VmHWM', 'RssAnon'].map((line) =>
    median((logs.get(name) ?? []).map((log) => mebibytes(log, line))),
  );
  const memory = Number.isNaN(own) ? '' : `   ${peak?.toFixed(1)} MiB, own ${own?.toFixed(1)}`;
  console.log(`${name.padEnd(32)} ${time.toFixed(1).padStart(6)} ms  ${(time / ofBare).toFixed(2)}${memory}`);
}
