import { hash } from 'node:crypto';
import type { NodeFacts } from '../readiness/facts.ts';
import type { NodeUsage } from './node-usage.ts';

/**
 * How a node looks to a pod that would go there, in a few letters: another text as soon as anything differs by which
 * the scheduler could judge the node otherwise. What each heartbeat changes is not in it.
 */
export function fingerprintOf(
  { uid, bootID, labels, taints, unschedulable, allocatable }: NodeFacts,
  usage: NodeUsage,
): string {
  const { amounts, pods } = usage;
  const sorted = (map: object): [string, unknown][] =>
    Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1));
  const there = [...pods].sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = [
    uid,
    bootID,
    sorted(labels),
    taints,
    unschedulable,
    sorted(allocatable),
    sorted(amounts),
    there,
  ];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
