import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { podAddress, secondAddress } from './harness/addresses.ts';
import { type PodSpecimen, specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { flushRules, writeRules } from './rules/backends.ts';
import { linkerd } from './rules/linkerd.ts';
import { addSecondInterface, networkStatusOf } from './table/steps.ts';

/* Checks that passed early are repeated when the last check passes. */
const right = networkStatusOf('dual', podAddress, secondAddress);
const joined: PodSpecimen = {
  ...specimens.linkerd,
  ...specimens.multus,
  profile: 'linkerd.multus',
  sidecars: specimens.linkerd.sidecars,
};

const timesPassed = (log: string, check: string): number => log.split(`${check} passed:`).length - 1;

describe('checks of several profiles', { concurrency: 4 }, () => {
  test('that pass at different times: proved together, each reported once', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, linkerd());
    await addSecondInterface()(sandbox);
    const proof = startProof(sandbox, joined);
    await proof.started;
    await sleep(2000);
    proof.setNetworkStatus(right);
    const { code, log, message } = await proof.ended;
    assert.equal(code, 0, log);
    assert.equal(timesPassed(log, 'redirect IPv4'), 1, log);
    assert.ok(message.checks.every(({ passed }) => passed));
  });

  test('one of which fails its repeat: the log says that it passed before', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, linkerd());
    const proof = startProof(sandbox, joined, { networkStatus: right });
    await proof.started;
    await sleep(2000);
    await flushRules(sandbox);
    await sleep(1000);
    await addSecondInterface()(sandbox);
    const { code, log, message } = await proof.ended;
    assert.equal(code, 95, log);
    assert.match(
      log,
      /redirect IPv4 passed:(?:.|\n)*redirect IPv4 failed \(not-redirected\): .*, after it passed before\./,
    );
    const passed = message.checks.map(({ check, family, passed }) => [check, family, passed]);
    assert.deepEqual(passed, [
      ['redirect', 'IPv4', false],
      ['redirect', 'IPv6', false],
      ['interfaces', undefined, true],
    ]);
  });

  test('one of which is retried when the pod is deleted: it is among the open ones', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, linkerd());
    const proof = startProof(sandbox, joined, { networkStatus: right });
    await proof.started;
    await sleep(2000);
    await flushRules(sandbox);
    await addSecondInterface()(sandbox);
    await sleep(2000);
    proof.signal('SIGTERM');
    const { code, log, message } = await proof.ended;
    assert.equal(code, 143, log);
    assert.match(log, /with these still open: linkerd redirect IPv4, linkerd redirect IPv6;/);
    assert.deepEqual(
      message.checks.map(({ check }) => check),
      ['interfaces'],
    );
  });
});

test('a network without an interface: a note in log, verdict and message', async () => {
  await using sandbox = await Sandbox.make();
  const status = networkStatusOf('dual', podAddress);
  const { code, log, message } = await startProof(sandbox, specimens.multus, { networkStatus: status }).ended;
  assert.equal(code, 0, log);
  const note = 'network-status of this sandbox does not list shop/storage: its plugin reported no interface';
  assert.ok(log.includes(`saw no interface net1 for shop/storage. Note: ${note}.`), log);
  assert.match(log, /verdict: passed \(0\) after [\d.]+ s, with a note on multus interfaces\./);
  assert.equal(message.checks[0]?.note, note);
});
