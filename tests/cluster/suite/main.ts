import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mortal } from '../../support/mortal.ts';

/**
 * usage: npx node tests/cluster/suite/main.ts [FILE ...]
 *
 * Runs files, by default all of the suite, by workers that each have a control plane. Then one worker runs once more
 * the files that failed. A control plane on a busy machine can miss a deadline that says nothing about cni-gate, and a
 * fault fails twice. The end names what passed only the second time.
 */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** They mostly wait: for outages to end, and for what the scheduler and controllers do by the clock. */
const workers = 3;

/** Files that take minutes: they begin first, so that no worker ends long after the others. */
const long = [
  'certificates-faults',
  'repair',
  'gate-outages',
  'namespaces',
  'certificates-rotation',
  'steer',
  'check',
  'status',
  'manifests-node-death',
  'gate-proofs',
].map((name) => at(`../${name}.test.ts`));

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-suite-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const named = process.argv.slice(2).map((file) => resolve(file));
const all = named.length > 0 ? named : globSync(at('../*.test.ts')).sort();
const files = [...long.filter((file) => all.includes(file)), ...all.filter((file) => !long.includes(file))];
const failed = await run(files, Math.min(workers, files.length));
// if none passed, the machine cannot run them
if (failed.length > 0 && failed.length < files.length) {
  console.log(`\n== ${failed.length} files failed, and run once more\n`);
  const twice = await run(failed, 1);
  const flaky = failed.filter((file) => !twice.includes(file));
  console.log(`\n== passed only the second time:\n${flaky.join('\n') || 'none'}`);
  console.log(`== failed both times:\n${twice.join('\n') || 'none'}`);
  process.exitCode = twice.length > 0 ? 1 : 0;
} else process.exitCode = failed.length > 0 ? 1 : 0;

/** Runs files by so many workers, each in namespaces of its own. @returns those that failed */
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
