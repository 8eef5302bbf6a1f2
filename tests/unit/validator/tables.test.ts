import assert from 'node:assert/strict';
import { test } from 'node:test';
import { native } from './kernel.ts';

const { attemptCaptured } = await import('../../../validator/checks/captured.ts');
const { readPod } = await import('../../../validator/pod.ts');
const { readIPv6Table } = await import('../../../validator/proc/tables.ts');

test('an absent IPv6 table is empty', () => {
  native.exists = () => false;
  assert.equal(readIPv6Table('/proc/net/udp6'), '');
});

for (const table of ['/proc/net/tcp', '/proc/net/tcp6'])
  test(`an unreadable ${table} is an error, and not reported as no-listener`, async () => {
    native.exists = () => true;
    native.readFile = (path: string) => {
      if (path === table) throw new Error('EMFILE');
      return '';
    };
    const check = { listeners: [15_001], outbound: 15_001, connect: ['192.0.2.2:1404'], timeout: '0s' };
    const pod = readPod({}, 1, () => []);
    await assert.rejects(attemptCaptured(check, 'IPv4', pod)(0), {
      message: `${table} cannot be read: EMFILE`,
    });
  });
