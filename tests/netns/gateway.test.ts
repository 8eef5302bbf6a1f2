import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { requireMachine } from './harness/machine.ts';
import { specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { silenceGateway } from './table/steps.ts';

/** What the check `gateway` says where the table has no row. */
before(requireMachine);

const notes = (log: string): (string | undefined)[] =>
  log
    .split('\n')
    .filter((line) => line.includes(' gateway '))
    .map((line) => /Note: (.*)$/.exec(line)?.[1])
    .sort();

describe('a gateway that is known from before', { concurrency: 2 }, () => {
  test('is told of as such: nobody had to answer in this run', async () => {
    await using sandbox = await Sandbox.make({ gateway: 'by-link-route' });
    const first = await startProof(sandbox, specimens.cilium).ended;
    assert.equal(first.code, 0, first.log);
    assert.deepEqual(notes(first.log), [undefined, undefined]);
    await silenceGateway(sandbox);
    const second = await startProof(sandbox, specimens.cilium).ended;
    assert.equal(second.code, 0, second.log);
    assert.deepEqual(notes(second.log), [
      '10.244.1.1 was known on eth0 before this run, so nobody had to answer.',
      'fd00:10:244:1::1 was known on eth0 before this run, so nobody had to answer.',
    ]);
  });

  test('shows by refusing a datagram that it is still there', async () => {
    await using sandbox = await Sandbox.make({ gateway: 'by-link-route' });
    for (const _ of ['first', 'second']) {
      const { code, log } = await startProof(sandbox, specimens.cilium).ended;
      assert.equal(code, 0, log);
      assert.deepEqual(notes(log), [undefined, undefined], log);
    }
  });
});
