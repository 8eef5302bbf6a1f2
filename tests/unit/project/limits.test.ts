import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  evidencePods,
  namespaces,
  nodeEvidence,
  nodes,
  objectBytes,
  pendingPods,
  placedPods,
  repairLimits,
} from '../../../webhook/lib/limits.ts';

const reference = readFileSync(new URL('../../../docs/reference/limits.md', import.meta.url), 'utf8');

test('the reference has the limits that the code has', () => {
  const size = (bytes: number): string =>
    bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${bytes / 2 ** 20} MiB`;
  const number = (count: number): string => count.toLocaleString('en');
  const { max, mostOfNamespace, requiredCharacters } = pendingPods;
  const { fruitless, pause, longestPause, breaker, candidates } = repairLimits;
  const minutes = (milliseconds: number): string => `${milliseconds / 60_000} minutes`;
  const inTime = ({ count, within }: { count: number; within: number }): string =>
    `${count} in ${minutes(within)}`;
  for (const [what, limit] of [
    ['pause after a recreated pod', `${pause / 1000} s, doubled each time, at most ${minutes(longestPause)}`],
    ['another node ready', inTime(fruitless)],
    ['a second pod of a controller follows', `${repairLimits.second / 1000} s`],
    ['repair may stop', inTime({ count: breaker.least, within: breaker.within })],
    ['that count for all', number(breaker.ofNamespace)],
    ['one plan compares', number(candidates)],
    ['last failure is remembered', number(repairLimits.lastFailures)],
    ['that one round deletes', number(repairLimits.released.ofNamespace)],
    ['a DaemonSet that a profile names', size(objectBytes.daemonSet)],
    ['a pod that waits for a node', size(objectBytes.pendingPod)],
    ['a pod with our label', size(objectBytes.evidencePod)],
    [
      '| verdicts that are kept  ',
      `${number(evidencePods.max.count)}, about ${size(evidencePods.max.bytes)}`,
    ],
    [
      'verdicts that are kept, for each namespace',
      `${number(evidencePods.mostOfNamespace.count)}, about ${size(evidencePods.mostOfNamespace.bytes)}`,
    ],
    ['addresses of one pod', number(evidencePods.addresses)],
    ['owners of failures', number(nodeEvidence.owners)],
    ['of which something is remembered', number(nodeEvidence.entries)],
    ['any other object', size(objectBytes.default)],
    ['a pod on a node', size(objectBytes.placedPod)],
    ['a pod that the gate asks', size(objectBytes.lookup)],
    ['| a node, as JSON', size(objectBytes.node)],
    ['a namespace that opted in, as JSON', size(objectBytes.namespace)],
    ['resources of a node', size(nodes.bytes)],
    ['nodes that are kept', `${number(nodes.max.count)}, ${size(nodes.max.bytes)}`],
    ['labels of a namespace', size(namespaces.bytes)],
    ['namespaces that are kept', `${number(namespaces.max.count)}, ${size(namespaces.max.bytes)}`],
    ['in all', `${number(max.count)}, about ${size(max.bytes)}`],
    ['of one namespace', `${number(mostOfNamespace.count)}, about ${size(mostOfNamespace.bytes)}`],
    ['characters of the requirements', number(requiredCharacters)],
  ]) {
    const line = reference.split('\n').find((one) => one.startsWith('|') && one.includes(what ?? ''));
    assert.match(line ?? '', new RegExp(`\\| ${limit} +\\|$`), what);
  }
  for (const text of [`${placedPods.resources} resources`, size(placedPods.listBytes)]) {
    assert.ok(reference.includes(text), text);
  }
});
