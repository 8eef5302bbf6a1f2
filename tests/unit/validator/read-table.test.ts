import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTable } from '../../../validator/read-text.ts';

test('a table of the kernel that cannot be read is never taken for an empty one', () => {
  assert.match(readTable('/proc/net/arp'), /^IP address/);
  assert.throws(() => readTable('/proc/net/nothing'), /^Error: \/proc\/net\/nothing cannot be read: ENOENT/);
});
