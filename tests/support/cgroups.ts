import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { leftovers } from './leftovers.ts';

/** The path of a test run's control group, which ends with the run's process ID. @param kind the group's purpose */
export const groupOf = (kind: string, pid: number): string => `/${prefixOf(kind)}${pid}`;

const prefixOf = (kind: string): string => `cni-gate-${kind}-`;

/** Creates a group in each hierarchy, because the kubelet requires that its configured group exists. */
export function makeGroup(group: string): void {
  for (const hierarchy of hierarchies()) {
    handOn(hierarchy);
    mkdirSync(join(hierarchy, group), { recursive: true });
  }
}

/** Removes a group and all groups below it, which must not contain processes. */
export function removeGroup(group: string): void {
  for (const hierarchy of hierarchies()) removeTree(join(hierarchy, group));
}

/** Removes the groups of this kind whose runs were killed. The name of a group contains the run's process ID. */
export function removeLeftGroups(kind: string): void {
  for (const hierarchy of hierarchies()) {
    for (const name of leftovers(hierarchy, prefixOf(kind))) removeTree(join(hierarchy, name));
  }
}

/** The mount points of control groups: a single one with cgroup v2, one for each set of controllers with v1. */
function hierarchies(): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2')
    .map(([, path = '']) => path);
}

/** The mount point of a controller's groups, and the version of cgroup. */
export function hierarchyOf(controller: string): { path: string; version: 1 | 2 } {
  for (const path of hierarchies()) {
    const available = join(path, 'cgroup.controllers');
    if (existsSync(available)) {
      if (readFileSync(available, 'utf8').trim().split(/\s+/).includes(controller))
        return { path, version: 2 };
    }
    // with cgroup v1, a hierarchy is mounted at a folder that is named after its controllers, such as `cpu,cpuacct`
    else if (path.split('/').at(-1)?.split(',').includes(controller)) return { path, version: 1 };
  }
  throw new Error(
    `NOT RUN: this needs control groups with the controller ${controller}, which are not mounted`,
  );
}

/** Enables all controllers for subgroups: with cgroup v2, a group has only those that its parent enables. */
function handOn(hierarchy: string): void {
  const available = join(hierarchy, 'cgroup.controllers');
  if (!existsSync(available)) return;
  for (const controller of readFileSync(available, 'utf8').split(/\s+/)) {
    if (controller !== '') writeFileSync(join(hierarchy, 'cgroup.subtree_control'), `+${controller}`);
  }
}

/** Removes a group's folders. The kernel removes each folder's files with it; programs cannot remove them. */
function removeTree(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(path, entry.name));
  }
  rmdirSync(path);
}
