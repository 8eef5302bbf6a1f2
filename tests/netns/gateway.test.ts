import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { configurationOf } from '../support/configurations.ts';
import { requireMachine } from './harness/machine.ts';
import { specimens } from './harness/pods.ts';
import { type Proof, startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import type { Shape } from './harness/shape.ts';
import type { Step } from './table/plan.ts';
import { silenceGateway } from './table/steps.ts';

/** What the check `gateway` says where the table has no row. */
before(requireMachine);

const notes = (log: string): (string | undefined)[] =>
  log
    .split('\n')
    .filter((line) => line.includes(' gateway '))
    .map((line) => /Note: (.*)$/.exec(line)?.[1])
    .sort();

/** A profile that proves the gateway and nothing else. */
const gatewayOnly = configurationOf({
  profiles: [{ name: 'gateway-only', proof: { checks: [{ gateway: { timeout: '1s' } }] } }],
});
const proveGateway = (sandbox: Sandbox) =>
  startProof(sandbox, { profile: 'gateway-only' }, { configuration: gatewayOnly }).ended;

const reasons = ({ message }: Proof): (string | undefined)[] => message.checks.map(({ reason }) => reason);

describe('a pod without a network has no gateway to ask, and that proves nothing', { concurrency: 3 }, () => {
  const networks: [what: string, shape: Partial<Shape>, step: Step][] = [
    ['nothing but lo', { gateway: 'none' }, () => {}],
    [
      'an interface that is down',
      {},
      async (sandbox) => void (await sandbox.ip('pod', 'link set eth0 down')),
    ],
  ];
  for (const [what, shape, step] of networks)
    test(what, async () => {
      await using sandbox = await Sandbox.make(shape);
      await step(sandbox);
      const proof = await proveGateway(sandbox);
      assert.equal(proof.code, 95, proof.log);
      assert.deepEqual(reasons(proof), ['address-missing', 'address-missing']);
    });

  test('no default route beside the right address is as it should be', async () => {
    await using sandbox = await Sandbox.make({ defaultRoute: false });
    const proof = await proveGateway(sandbox);
    assert.equal(proof.code, 0, proof.log);
    assert.match(proof.log, /saw no default route\. Note: nothing was asked/);
  });
});

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
