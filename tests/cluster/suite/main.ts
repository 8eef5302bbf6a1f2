import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mortal } from '../../support/mortal.ts';

/**
 * usage: node tests/cluster/suite/main.ts [FILE ...]
 *
 * Runs files, by default all of the suite, one after another, and then those that failed once more, in namespaces of their own. A
 * control plane on a busy machine can miss a deadline that says nothing about cni-gate. A fault fails twice. What passed
 * the second time is named at the end, so that nobody overlooks it.
 */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-suite-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const named = process.argv.slice(2);
const files = named.length > 0 ? named.map((file) => resolve(file)) : globSync(at('../*.test.ts')).sort();
const first = await run(files, 'first');
if (first.code !== 0 && first.failed.length > 0) {
  console.log(`\n== ${first.failed.length} files failed, and run once more\n`);
  const second = await run(first.failed, 'second');
  const flaky = first.failed.filter((file) => !second.failed.includes(file));
  console.log(`\n== passed only the second time:\n${flaky.join('\n') || 'none'}`);
  console.log(`== failed both times:\n${second.failed.join('\n') || 'none'}`);
  process.exitCode = second.code;
} else process.exitCode = first.code;

/** Runs files: the exit code, and the files that failed. */
async function run(files: string[], name: string): Promise<{ code: number; failed: string[] }> {
  const list = join(folder, name);
  const node = ['node', '--test', '--test-concurrency=1', '--test-timeout=480000'];
  const reporters = [
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${at('passed-files.ts')}`, `--test-reporter-destination=${list}`],
  ];
  const child = spawn(...mortal('node', [at('../run.ts'), ...node, ...reporters, ...files]), {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  const passed = readFileSync(list, { encoding: 'utf8', flag: 'a+' }).split('\n');
  return { code: code ?? 1, failed: files.filter((file) => !passed.includes(file)) };
}
