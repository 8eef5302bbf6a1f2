import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { mortal } from '../../support/mortal.ts';

/**
 * usage: node tests/cluster/suite/main.ts [FILE ...]
 *
 * Runs files, by default all of the suite, one after another; those that mostly wait run beside the others. Then it runs
 * once more, one after another, the files that failed. A control plane on a busy machine can miss a deadline that says
 * nothing about cni-gate, and a fault fails twice. What passed only the second time is named at the end, so that nobody
 * overlooks it.
 */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Files that wait most of their time: for outages to end, and for what the scheduler and controllers do by the clock. */
const waiting = [
  'certificates-rotation',
  'gate-outages',
  'manifests-node-death',
  'namespaces',
  'status',
  'status-taken-away',
  'status-watch',
  'steer',
].map((name) => at(`../${name}.test.ts`));

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-suite-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const named = process.argv.slice(2).map((file) => resolve(file));
const files = named.length > 0 ? named : globSync(at('../*.test.ts')).sort();
const beside = run(
  files.filter((file) => waiting.includes(file)),
  { name: 'beside', quiet: true },
);
const first = await run(
  files.filter((file) => !waiting.includes(file)),
  { name: 'first' },
);
const { text, ...other } = await beside;
console.log(`\n== the files that mostly wait\n${text}`);
const failed = [...first.failed, ...other.failed];
// if none passed, the machine cannot run them
if (failed.length > 0 && failed.length < files.length) {
  console.log(`\n== ${failed.length} files failed, and run once more\n`);
  const second = await run(failed, { name: 'second' });
  const flaky = failed.filter((file) => !second.failed.includes(file));
  console.log(`\n== passed only the second time:\n${flaky.join('\n') || 'none'}`);
  console.log(`== failed both times:\n${second.failed.join('\n') || 'none'}`);
  process.exitCode = second.code;
} else process.exitCode = first.code || other.code;

/** What came of a run: the exit code, the files that failed, and what was printed if it was quiet. */
interface Result {
  code: number;
  failed: string[];
  text: string;
}

/** Runs files, in namespaces of their own. @param quiet prints nothing */
async function run(
  files: string[],
  { name, quiet = false }: { name: string; quiet?: boolean },
): Promise<Result> {
  if (files.length === 0) return { code: 0, failed: [], text: '' };
  const list = join(folder, name);
  const node = ['node', '--test', '--test-concurrency=1', '--test-timeout=480000'];
  const reporters = [
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${at('passed-files.ts')}`, `--test-reporter-destination=${list}`],
  ];
  const child = spawn(...mortal('node', [at('../run.ts'), ...node, ...reporters, ...files]), {
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'inherit'],
  });
  const printed = child.stdout === null ? '' : readText(child.stdout);
  const [code] = await once(child, 'close');
  const passed = readFileSync(list, { encoding: 'utf8', flag: 'a+' }).split('\n');
  return { code: code ?? 1, failed: files.filter((file) => !passed.includes(file)), text: await printed };
}
