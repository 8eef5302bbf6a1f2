import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { run } from '../../support/run.ts';

const folder = '/run/netns';
const prefix = 'cni-gate-test';
const named = new RegExp(`^${prefix}-(\\d+)-`);

const mine = new Set<string>();
let made = 0;

export const pathOf = (name: string): string => `${folder}/${name}`;

/** A command that runs inside a network namespace: `nsenter` and its arguments. */
export const inside = (name: string, ...command: string[]): [command: string, args: string[]] => [
  'nsenter',
  [`--net=${pathOf(name)}`, '--', ...command],
];

export async function addNamespace(kind: string): Promise<string> {
  if (mine.size === 0 && made === 0) removeLeftovers();
  made += 1;
  const name = `${prefix}-${process.pid}-${made}-${kind}`;
  mine.add(name);
  await run('ip', ['netns', 'add', name]);
  return name;
}

export async function removeNamespace(name: string): Promise<void> {
  await run('ip', ['netns', 'delete', name]);
  mine.delete(name);
}

/** Removes namespaces that killed runs left behind: their names contain the run's process ID. */
function removeLeftovers(): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const owner = named.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) spawnSync('ip', ['netns', 'delete', name]);
  }
}

function removeMine(): void {
  for (const name of mine) spawnSync('ip', ['netns', 'delete', name]);
  mine.clear();
}

process.on('exit', removeMine);
