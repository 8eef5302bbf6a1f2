import assert from 'node:assert/strict';
import { test } from 'node:test';
import { native } from './kernel.ts';

const { defaultRoute } = await import('../../../validator/checks/default-route.ts');

/** The gateways of the sample addresses, in their order, and how many samples the kernel is asked about. */
for (const [what, gateways, expected, asked] of [
  ['a route to the first sample only', ['7', '1', '1', '1', '1'], '1', 4],
  ['the same route to the first three', ['1', '1', '1', '7', '7'], '1', 3],
  ['no route that most samples have', ['7', '1', '1', '8', '9'], '1', 5],
] as const)
  test(`the default route is the one that most samples have: ${what}`, () => {
    let count = 0;
    native.datagrams = () => 3;
    native.connect = () => {};
    native.localEnd = () => ({ address: '10.244.1.7' });
    native.interfaces = () => [{ name: 'eth0', flags: 0x41, address: '10.244.1.7' }];
    native.route = () => ({ device: 'eth0', gateway: `10.244.1.${gateways[count++]}` });
    assert.deepEqual(defaultRoute('IPv4'), {
      device: 'eth0',
      gateway: { family: 'IPv4', hex: `0af4010${expected}` },
    });
    assert.equal(count, asked);
  });
