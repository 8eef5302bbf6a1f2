import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { otherSecondAddress, podAddress, secondAddress } from './harness/addresses.ts';
import { injected, type PodSpecimen, specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import { bootId, Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import { type Plan, runCommand, type Step } from './table/plan.ts';
import { addSecondInterface, downLo, networkStatusOf, write } from './table/steps.ts';

/* The validator as a kubelet starts it: users, combined profiles, modes, signals, and its termination message. */
describe('started as by a kubelet', { concurrency: 3 }, () => {
  const users: [who: string, runAsUser: number, runs: number][] = [
    ['a user of an OpenShift range', 1_000_680_000, 1_000_680_000],
    ["the proxy's own user, whom the webhook puts another in the place of", 2102, 65_534],
    ['root, whom the webhook puts another in the place of', 0, 65_534],
  ];
  for (const [who, runAsUser, runs] of users) {
    test(`linkerd is proved in a pod that runs as ${who}`, async () => {
      const specimen: PodSpecimen = { ...specimens.linkerd, runAsUser };
      const { pod, container } = injected(specimen);
      assert.equal(container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser, runs);
      const { code, log } = await runCommand({ before: [write(linkerd())] }, specimen);
      assert.equal(code, 0, log);
    });
  }

  test('the message names the sandbox', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, istio());
    const { code, message, log, termination } = await startProof(sandbox, specimens.istio).ended;
    assert.equal(code, 0, log);
    assert.deepEqual(message.sandbox, { netns: String(sandbox.inode), bootId: bootId() });
    assert.equal(termination.trim().split('\n').length, 1);
  });

  test('a restarted container in the same sandbox passes after a repair', async () => {
    await using sandbox = await Sandbox.make();
    const first = await startProof(sandbox, specimens.istio).ended;
    assert.equal(first.code, 95, first.log);
    await writeRules(sandbox, istio());
    for (const _ of ['second', 'third']) {
      const again = await startProof(sandbox, specimens.istio).ended;
      assert.equal(again.code, 0, again.log);
      assert.deepEqual(again.message.sandbox, first.message.sandbox);
    }
  });

  test('several profiles: the verdict names the failing one', async () => {
    const specimen = { ...specimens.linkerd, ...specimens.multus, profile: 'cilium.linkerd.multus' };
    const sidecars = specimens.linkerd.sidecars;
    await using whole = await Sandbox.make({ gateway: 'by-link-route' });
    await using half = await Sandbox.make({ gateway: 'by-link-route' });
    await Promise.all([writeRules(whole, linkerd()), writeRules(half, linkerd())]);
    await addSecondInterface()(whole);
    const [right, wrong] = await Promise.all(
      [whole, half].map((sandbox) => startProof(sandbox, { ...specimen, sidecars }).ended),
    );
    assert.equal(right?.code, 0, right?.log);
    assert.equal(wrong?.code, 95, wrong?.log);
    const failed = wrong.message.checks.filter((check) => !check.passed);
    assert.deepEqual(
      failed.map(({ profile, reason }) => [profile, reason]),
      [['multus', 'interface-missing']],
    );
  });

  const listeners: [address: string, code: 0 | 95][] = [
    ['0.0.0.0:4143', 0],
    ['[::]:4143', 95],
  ];
  for (const [address, expected] of listeners) {
    test(`linkerd with rules for IPv4 only, on a dual-stack pod whose proxy listens on ${address}`, async () => {
      const pod = { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: address } };
      const plan = { pod, before: [write(linkerd(), { families: 'ipv4' })] };
      const { code, message, log } = await runCommand(plan, specimens.linkerd);
      assert.equal(code, expected, log);
      const passed = Object.fromEntries(message.checks.map(({ family, passed }) => [family, passed]));
      assert.deepEqual(passed, expected === 0 ? { IPv4: true } : { IPv4: true, IPv6: false });
    });
  }

  test('a redirect while lo is down: the failure says so', async () => {
    const plan: Plan = { shape: { families: 'ipv4' }, before: [write(istio()), downLo] };
    const { code, log } = await runCommand(plan, specimens.istio);
    assert.equal(code, 95, log);
    assert.match(log, /, and the interface lo is down\./);
  });

  test('network-status that comes a second late decides', async () => {
    const status = networkStatusOf('dual', podAddress, secondAddress);
    const before = [addSecondInterface(otherSecondAddress)];
    const late: Step = (_, proof) => proof?.setNetworkStatus(status);
    const plan: Plan = { before, while: [{ after: 1000, step: late }] };
    const { code, message, log } = await runCommand(plan, specimens.multus);
    assert.equal(code, 95, log);
    assert.equal(message.checks[0]?.reason, 'address-differs');
  });

  test('warn mode: failures are reported, exit 0', async () => {
    const plan: Plan = { shape: { families: 'ipv4' }, options: { mode: 'warn' } };
    const { code, message, log } = await runCommand(plan, specimens.istio);
    assert.equal(code, 0, log);
    assert.deepEqual(
      message.checks.map(({ passed, reason }) => [passed, reason]),
      [[false, 'not-redirected']],
    );
    assert.notEqual(message.verdict, 'passed');
  });

  test('SIGTERM: ends at once, verdict stopped', async () => {
    const stop: Step = (_, proof) => proof?.signal('SIGTERM');
    const plan: Plan = { while: [{ after: 1500, step: stop }] };
    const { code, milliseconds, log, message } = await runCommand(plan, specimens.linkerd);
    assert.equal(code, 143, log);
    assert.ok(milliseconds < 5000, `${milliseconds} ms`);
    assert.equal(message.code, 143);
  });
});
