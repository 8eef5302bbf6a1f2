import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { objectBytes, placedPods, waitingPods } from '../../../webhook/limits.ts';

const reference = readFileSync(new URL('../../../docs/reference/limits.md', import.meta.url), 'utf8');

test('the reference has the limits that the code has', () => {
  const size = (bytes: number): string =>
    bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${bytes / 2 ** 20} MiB`;
  const number = (count: number): string => count.toLocaleString('en');
  const { most, mostOfNamespace, askedCharacters, claims } = waitingPods;
  for (const [what, limit] of [
    ['a DaemonSet that a profile names', size(objectBytes.daemonSet)],
    ['a pod that waits for a node', size(objectBytes.waitingPod)],
    ['any other object', size(objectBytes.default)],
    ['a pod on a node', size(objectBytes.placedPod)],
    ['a pod that the gate asks', size(objectBytes.lookup)],
    ['in all', `${number(most.count)}, about ${size(most.bytes)}`],
    ['of one namespace', `${number(mostOfNamespace.count)}, about ${size(mostOfNamespace.bytes)}`],
    ['characters of what one pod asks', number(askedCharacters)],
    ['PersistentVolumeClaims', number(claims)],
  ]) {
    const line = reference.split('\n').find((one) => one.startsWith('|') && one.includes(what ?? ''));
    assert.match(line ?? '', new RegExp(`\\| ${limit} +\\|$`), what);
  }
  for (const text of [
    number(placedPods.labelCharacters),
    `${placedPods.resources} resources`,
    size(placedPods.listBytes),
  ]) {
    assert.ok(reference.includes(text), text);
  }
});
