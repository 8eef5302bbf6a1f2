import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { leftovers } from './leftovers.ts';

/** A control group of a run: its name has the id of the run's process. @param kind what it is for */
export const groupOf = (kind: string, pid: number): string => `/${prefixOf(kind)}${pid}`;

const prefixOf = (kind: string): string => `cni-gate-${kind}-`;

/** Makes a group in each hierarchy: the kubelet wants the one that it is told to be there. */
export function makeGroup(group: string): void {
  for (const hierarchy of hierarchies()) {
    handOn(hierarchy);
    mkdirSync(join(hierarchy, group), { recursive: true });
  }
}

/** Takes a group away with all that is below it. No process may be left in any. */
export function removeGroup(group: string): void {
  for (const hierarchy of hierarchies()) removeTree(join(hierarchy, group));
}

/** Takes away what runs of this kind left behind that were killed: their names tell whose they were. */
export function removeLeftGroups(kind: string): void {
  for (const hierarchy of hierarchies()) {
    for (const name of leftovers(hierarchy, prefixOf(kind))) removeTree(join(hierarchy, name));
  }
}

/** Where control groups are mounted: one place with cgroup v2, one for each set of controllers with v1. */
function hierarchies(): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2')
    .map(([, path = '']) => path);
}

/** Where a controller's groups are. */
export function hierarchyOf(controller: string): { path: string; version: 1 | 2 } {
  for (const path of hierarchies()) {
    const available = join(path, 'cgroup.controllers');
    if (existsSync(available)) {
      if (readFileSync(available, 'utf8').trim().split(/\s+/).includes(controller))
        return { path, version: 2 };
    }
    // with cgroup v1 each is mounted at a folder of its name, several at one such as `cpu,cpuacct`
    else if (path.split('/').at(-1)?.split(',').includes(controller)) return { path, version: 1 };
  }
  throw new Error(
    `NOT RUN: this needs control groups with the controller ${controller}, which are not mounted`,
  );
}

/** With cgroup v2 a group has the controllers that the one above it hands on. */
function handOn(hierarchy: string): void {
  const available = join(hierarchy, 'cgroup.controllers');
  if (!existsSync(available)) return;
  for (const controller of readFileSync(available, 'utf8').split(/\s+/)) {
    if (controller !== '') writeFileSync(join(hierarchy, 'cgroup.subtree_control'), `+${controller}`);
  }
}

/** The files in a group go with it, and cannot be removed otherwise. */
function removeTree(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(path, entry.name));
  }
  rmdirSync(path);
}
