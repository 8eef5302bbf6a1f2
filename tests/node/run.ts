import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../webhook/lib/errors.ts';
import { ensurePrograms, find } from '../cluster/binaries/ensure.ts';
import { groupOf, makeGroup, removeGroup, removeLeftGroups } from '../support/cgroups.ts';
import { leftovers } from '../support/leftovers.ts';
import { endAs, mortal } from '../support/mortal.ts';
import { pluginFolder } from './harness/network.ts';
import { type Setup, setupVariable } from './setup.ts';

/**
 * Runs a command where the command can start a control plane and a node. tests/cluster/run.ts does most of the work.
 *
 * usage: npx node tests/node/run.ts COMMAND [ARGUMENT ...]
 */
const command = process.argv.slice(2);
const runner = fileURLToPath(new URL('../cluster/run.ts', import.meta.url));
const imagePrefix = 'cni-gate-node-image-';
const setup: Setup = {
  kubelet: '',
  group: groupOf('node', process.pid),
  images: join(tmpdir(), `${imagePrefix}${process.pid}`),
};

try {
  if (command.length === 0) throw new Error('usage: npx node tests/node/run.ts COMMAND [ARGUMENT ...]');
  checkMachine();
  removeLeftGroups('node');
  for (const name of leftovers(tmpdir(), imagePrefix)) rmSync(join(tmpdir(), name), { recursive: true });
  setup.kubelet = find(await ensurePrograms(['kubelet']), 'kubelet');
  // builds before the Linux namespaces are created, because the build needs the machine's network
  buildImages();
  makeGroup(setup.group);
  runInside();
} catch (error) {
  console.error(messageOf(error));
  cleanUp();
  process.exitCode = 1;
}

/** @throws Error with the missing programs; the runner of the control plane checks all other requirements */
function checkMachine(): void {
  const commands = [
    'containerd',
    'ctr',
    'runc',
    'ip',
    'iptables-nft',
    'iptables-nft-restore',
    'mount',
    'nft',
    'nsenter',
    'tar',
  ];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const missing = commands.filter((name) => !folders.some((folder) => isProgram(join(folder, name))));
  if (!isProgram(join(pluginFolder, 'bridge'))) missing.push(`${pluginFolder}/bridge`);
  if (missing.length === 0) return;
  throw new Error(
    `NOT RUN: a node needs ${missing.join(', ')}. As root on Debian or Ubuntu: tests/node/install.sh`,
  );
}

/** Builds the images in a Docker engine, as tests/image does, and exports the files of the images from it. */
function buildImages(): void {
  mkdirSync(setup.images);
  const image = (file: string): string => fileURLToPath(new URL(`../image/${file}`, import.meta.url));
  const build = [image('run.ts'), process.execPath, image('exported.ts'), setup.images];
  const { status } = spawnSync(...mortal(process.execPath, build), { stdio: 'inherit' });
  if (status !== 0) throw new Error('NOT RUN: the images could not be built; the lines above say why.');
}

function runInside(): void {
  const child = spawn(...mortal(process.execPath, [runner, ...command]), {
    stdio: 'inherit',
    env: { ...process.env, [setupVariable]: JSON.stringify(setup) },
  });
  endAs(child, cleanUp);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function cleanUp(): void {
  rmSync(setup.images, { recursive: true, force: true });
  removeGroup(setup.group);
}
