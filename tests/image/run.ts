import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { groupOf, makeGroup, removeGroup, removeLeftGroups } from '../support/cgroups.ts';
import { endAs, mortal } from '../support/mortal.ts';

/**
 * Runs a command with its own Docker engine, in the namespaces of tests/cluster/run.ts, so that everything ends with
 * the command. The engine's files are in memory.
 *
 * usage: npx node tests/image/run.ts COMMAND [ARGUMENT ...]
 *
 * With `CNI_GATE_PULL_IMAGES=1` the engine pulls the images that the Dockerfile and docker-compose.yml name. Otherwise
 * stand-ins are made from Debian and the programs of tests/cluster/binaries.
 */
const command = process.argv.slice(2);
const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const group = groupOf('image', process.pid);

if (command.length === 0) throw new Error('usage: npx node tests/image/run.ts COMMAND [ARGUMENT ...]');
const installed = spawnSync(path('./install.sh'), ['--check'], { stdio: 'inherit' });
if (installed.status === 0) runInside();
else process.exitCode = 1;

function runInside(): void {
  removeLeftGroups('image');
  makeGroup(group);
  const runner = [path('../cluster/run.ts'), 'bash', path('./enter.sh'), ...command];
  const child = spawn(...mortal(process.execPath, runner), {
    stdio: 'inherit',
    env: { ...process.env, CNI_GATE_ENGINE_GROUP: group },
  });
  endAs(child, () => removeGroup(group));
}
