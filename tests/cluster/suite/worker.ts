import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mortal } from '../../support/mortal.ts';

/**
 * usage: npx node tests/cluster/suite/worker.ts FOLDER FILE ...     inside the runner
 *
 * Runs, one after another and each in its own process, the files that no other worker of this folder has taken. The
 * worker appends the names of files that passed to the file `passed` in the folder.
 */
const [folder = '', ...files] = process.argv.slice(2);
let code = 0;
for (const file of files) if (isOurs(file)) await run(file);
process.exitCode = code;

function isOurs(file: string): boolean {
  try {
    mkdirSync(join(folder, basename(file)));
    return true;
  } catch {
    return false;
  }
}

async function run(file: string): Promise<void> {
  const began = performance.now();
  const args = ['--test', '--test-timeout=480000', '--test-force-exit', '--test-reporter=spec', file];
  const child = spawn(...mortal('node', args), { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode === 0) appendFileSync(join(folder, 'passed'), `${file}\n`);
  else code = 1;
  console.log(`== ${basename(file)} (${((performance.now() - began) / 1000).toFixed(0)} s)\n${output}`);
}
