/**
 * Applies small mutations to the code that decides, one at a time, and names those that no test notices:
 *
 *     npm run suite mutants [-- [--narrow] [AREA ...]]
 *
 * Each runs in a copy of the checkout. The tests of its area run first, and all of `npm test` where they pass: a mutant
 * survives if all pass. With `--narrow`, it survives if the tests of its area pass, which takes seconds and not minutes:
 * another area's tests may still notice it. `CNI_GATE_MUTANTS` is the number of mutants of each area.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf, sample } from './operators.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Area {
  sources: string[];
  /** Run in this order until a test fails. */
  tests: string[];
}

const areas: Record<string, Area> = {
  gate: {
    sources: ['webhook/admission/*.ts'],
    tests: ['tests/unit/admission/gate/*.test.ts', 'tests/server/gate.test.ts', 'tests/simulation/*.test.ts'],
  },
  evidence: {
    sources: ['webhook/core/{facts,networks}/*.ts'],
    tests: [
      'tests/unit/core/{facts,networks}/*.test.ts',
      'tests/unit/admission/gate/*.test.ts',
      'tests/unit/leader/repair/networks.test.ts',
      'tests/simulation/*.test.ts',
    ],
  },
  repair: {
    sources: ['webhook/leader/repair/*.ts'],
    tests: ['tests/unit/leader/repair/*.test.ts', 'tests/simulation/*.test.ts'],
  },
  injection: {
    sources: ['webhook/core/proof/*.ts'],
    tests: ['tests/golden/*.test.ts', 'tests/unit/core/proof/*.test.ts'],
  },
  certificates: {
    sources: ['certs/{rotation,reconcile}.ts'],
    tests: ['tests/unit/certs/{rotation,reconcile}.test.ts', 'tests/unit/certs/*.test.ts'],
  },
  bodies: {
    sources: ['webhook/server/bodies.ts', 'webhook/lib/semaphore.ts'],
    tests: [
      'tests/unit/{lib/semaphore,server/bodies}.test.ts',
      'tests/server/{floods,hostile-bodies,bounds}.test.ts',
    ],
  },
};

/** What `npm test` runs. */
const allTests = /'([^']+)'$/.exec(
  (JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { scripts: { test: string } })
    .scripts.test,
)?.[1];

/** Mutants of each area, by default. */
const perArea = Number(process.env.CNI_GATE_MUTANTS ?? 14);
/** Copies of the checkout in which mutants run side by side. */
const workers = 2;
/** Milliseconds after which a test, or a run, counts as failed: a mutant may wait without an end. */
const [ofTest, ofArea, ofAll] = [90_000, 240_000, 600_000];

const { values, positionals } = parseArgs({
  options: { narrow: { type: 'boolean' } },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(areas);
const chosen = names.flatMap((name) => {
  const area = areas[name];
  if (area === undefined || allTests === undefined) {
    throw new Error(`expected areas among ${Object.keys(areas).join(', ')}, got ${name}`);
  }
  const files = area.sources.flatMap((pattern) => globSync(pattern, { cwd: repository })).toSorted();
  const mutants = files.flatMap((file) => mutantsOf(file, readFileSync(join(repository, file), 'utf8')));
  return sample(mutants, perArea).map((mutant) => ({ name, area, mutant }));
});

const survivors: { name: string; mutant: Mutant }[] = [];
const queue = chosen.entries();

async function work(): Promise<void> {
  const copy = copyOfCheckout();
  try {
    for (const [index, { name, area, mutant }] of queue) {
      const dies = await kills(copy, mutant, area);
      if (!dies) survivors.push({ name, mutant });
      console.log(`${index + 1}/${chosen.length} ${name}: ${dies ? 'dies' : 'SURVIVES'} ${textOf(mutant)}`);
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function copyOfCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cni-gate-mutants-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((path) => path !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(repository, file), join(copy, file));
  }
  for (const folder of ['node_modules', 'dist', '.git'])
    symlinkSync(join(repository, folder), join(copy, folder));
  return copy;
}

/** Whether a test of the area fails with the mutant or, without `--narrow`, another one. */
async function kills(copy: string, { file, line, after }: Mutant, { tests }: Area): Promise<boolean> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text
      .split('\n')
      .with(line - 1, after)
      .join('\n'),
  );
  try {
    for (const pattern of tests) if (!(await passes(copy, pattern, ofArea))) return true;
    return values.narrow !== true && !(await passes(copy, allTests ?? '', ofAll));
  } finally {
    writeFileSync(path, text);
  }
}

/** Ends at the first test that fails. */
async function passes(copy: string, tests: string, time: number): Promise<boolean> {
  // one process for a few files, which is faster, and one for each of many
  const isolation = tests === allTests ? 'process' : 'none';
  const reported = [`--test-timeout=${ofTest}`, '--test-reporter=tap', tests];
  // the same random faults each time
  const env = { ...process.env, SIMULATION_SEED: '1' };
  const child = spawn(process.execPath, ['--test', `--test-isolation=${isolation}`, ...reported], {
    cwd: copy,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: time,
    // a loop without an end handles no signal
    killSignal: 'SIGKILL',
  });
  const exit = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/^ *not ok (?!.* # TODO)/.test(line)) continue;
    child.kill('SIGKILL');
    await exit;
    return false;
  }
  const [code, signal] = await exit;
  if (signal !== null) console.log(`${tests}: no end after ${time / 1000} s`);
  return code === 0;
}

const textOf = ({ file, line, before, after }: Mutant): string =>
  `${file}:${line}\n  - ${before.trim()}\n  + ${after.trim()}`;

const clean = copyOfCheckout();
for (const name of names) {
  for (const pattern of areas[name]?.tests ?? []) {
    if (await passes(clean, pattern, ofArea)) continue;
    throw new Error(`${pattern} fails without a mutant`);
  }
}
rmSync(clean, { recursive: true });
await Promise.all(Array.from({ length: workers }, work));
const countOf = (list: { name: string }[], of: string) => list.filter(({ name }) => name === of).length;
for (const name of names)
  console.log(`${name}: ${countOf(survivors, name)} of ${countOf(chosen, name)} mutants survive`);
for (const { mutant } of survivors) console.log(textOf(mutant));
process.exitCode = survivors.length > chosen.length / 10 ? 1 : 0;
