import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { attemptCaptured } from '../../../validator/checks/captured.ts';
import { readPod } from '../../../validator/pod.ts';
import { readIPv6Table, readTable } from '../../../validator/read-text.ts';
import './on-node.ts';

test('an unreadable kernel table is an error, not an empty table', () => {
  assert.match(readTable('/proc/net/arp'), /^IP address/);
  assert.throws(() => readTable('/proc/net/nothing'), /^Error: \/proc\/net\/nothing cannot be read: ENOENT/);
});

test('an absent IPv6 table is empty, an unreadable one is an error', () => {
  assert.equal(readIPv6Table('/proc/net/nothing'), '');
  assert.throws(() => readIPv6Table('/proc/net'), /cannot be read: EISDIR/);
});

for (const table of ['/proc/net/tcp', '/proc/net/tcp6'])
  test(`an unreadable ${table} is not reported as no-listener`, async (t) => {
    const read = fs.readFileSync;
    t.mock.method(fs, 'readFileSync', (path: string, encoding: 'utf8') => {
      if (path === table) throw new Error('EMFILE: too many open files');
      return read(path, encoding);
    });
    const check = { listeners: [15_001], outbound: 15_001, connect: ['192.0.2.2:1404'], timeout: '0s' };
    await assert.rejects(
      attemptCaptured(
        check,
        'IPv4',
        readPod({}, 1, () => []),
      )(0),
      /cannot be read: EMFILE/,
    );
  });
