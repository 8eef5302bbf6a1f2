import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runBundled } from '../../support/bundle.ts';
import { mortal } from '../../support/mortal.ts';

/**
 * usage: npx node tests/cluster/suite/main.ts [FILE ...]
 *
 * Runs test files, by default all of the suite, with several workers; each file starts a control plane. Afterwards one
 * worker repeats the files that failed: on a busy machine a control plane can miss a deadline, which says nothing
 * about cni-gate, whereas a real fault occurs again. The output ends with the files that passed only the second time.
 */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * How many workers run at the same time. Most files wait for more than half of their time: for outages, the scheduler,
 * and controllers. A worker needs a gigabyte of memory.
 */
const workers = availableParallelism() + 1;

/**
 * Files that take a minute or more. They begin first, so that no worker ends long after the others. Those that load the
 * processors (about certificates and policies) do not begin together.
 */
const long = [
  'namespaces',
  'certificates',
  'gate-outages',
  'repair',
  'policies',
  'steer',
  'status',
  'manifests-policies',
  'lifecycle',
  'check',
  'migration',
  'gate-proofs',
  'readme',
  'manifests-permissive',
];
const placeOf = (file: string): number => {
  const place = long.indexOf(basename(file, '.test.ts'));
  return place < 0 ? long.length : place;
};

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-suite-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

runBundled(join(folder, 'app'));
// a shared cache of compiled code, because the test files load the same sources
process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');

const named = process.argv.slice(2).map((file) => resolve(file));
const all = named.length > 0 ? named : globSync(at('../*.test.ts')).sort();
const files = all.toSorted((one, other) => placeOf(one) - placeOf(other));
const failed = await run(files, Math.min(workers, files.length));
// if no file passed, the machine cannot run the suite, and a repetition would not help
if (failed.length > 0 && failed.length < files.length) {
  console.log(`\n== ${failed.length} files failed, and run again\n`);
  const twice = await run(failed, 1);
  const flaky = failed.filter((file) => !twice.includes(file));
  console.log(`\n== passed only the second time:\n${flaky.join('\n') || 'none'}`);
  console.log(`== failed both times:\n${twice.join('\n') || 'none'}`);
  process.exitCode = twice.length > 0 ? 1 : 0;
} else process.exitCode = failed.length > 0 ? 1 : 0;

/** Runs files with `count` workers, each in its own namespaces. @returns the files that failed */
async function run(some: string[], count: number): Promise<string[]> {
  const round = mkdtempSync(join(folder, 'round-'));
  const worker = ['node', at('worker.ts'), round, ...some];
  const children = Array.from({ length: count }, () =>
    spawn(...mortal('node', [at('../run.ts'), ...worker]), { stdio: ['ignore', 'inherit', 'inherit'] }),
  );
  await Promise.all(children.map((child) => once(child, 'close')));
  const passed = readFileSync(join(round, 'passed'), { encoding: 'utf8', flag: 'a+' }).split('\n');
  return some.filter((file) => !passed.includes(file));
}
