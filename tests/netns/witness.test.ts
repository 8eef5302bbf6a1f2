import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationOf } from '../support/configurations.ts';
import { type Family, nodeAddress, otherPodAddress, podAddress } from './harness/addresses.ts';
import { dialFrom } from './harness/dial.ts';
import { type Listening, listen } from './harness/listeners.ts';
import { injected, type PodSpecimen } from './harness/pods.ts';
import { type Proof, type RunningProof, startProof } from './harness/proof.ts';
import { bootId, Sandbox } from './harness/sandbox.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import {
  flushInbound,
  type InboundState,
  inboundStates,
  istioPod,
  linkerdPod,
  plain,
} from './table/inbound.ts';
import { states as ways } from './table/states.ts';
import { write } from './table/steps.ts';

/* The kubelet as a witness. A loop dials the startup probe's port from the node once a second. */

const configuration = configurationOf({ profiles: [{ name: 'seen', proof: { witness: 'kubelet' } }] });
describe('the witness, compared with the truth', { concurrency: 9 }, () => {
  for (const { what, pod, steps, shape, late, dialsFrom = 0, expected, from } of inboundStates) {
    test(`${what}: ${expected}`, async () => {
      await using sandbox = await Sandbox.make({ gateway: 'by-link-route', ...shape });
      for (const step of steps) await step(sandbox);
      const { proof, connected } = await witnessed(sandbox, pod, { late, dialsFrom, from });
      const passes = typeof expected === 'number';
      // a kubelet starts the next container as soon as it connects, so it must connect only if the proof passes
      assert.equal(connected, passes, proof.log);
      assert.equal(proof.code, passes ? 0 : 95, proof.log);
      if (passes) assert.match(proof.log, new RegExp(`witness IPv. passed: .* come to port ${expected}\\.`));
      else
        assert.ok(
          proof.message.checks.some(({ reason }) => reason === expected),
          proof.log,
        );
    });
  }

  // the documentation gives the results for these states
  for (const { what, shape, step, works } of ways) {
    test(`${what}: ${works ? 'passed' : 'not-reached'}`, async () => {
      await using sandbox = await Sandbox.make(shape);
      await step(sandbox);
      const { proof, connected } = await witnessed(sandbox, plain, {});
      assert.deepEqual([connected, proof.code], [works, works ? 0 : 95], proof.log);
      if (!works) assert.equal(proof.message.checks[0]?.reason, 'not-reached', proof.log);
    });
  }

  test("the kubelet's connection counts even after those of peers, and after the program was suspended", async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    await write(linkerd())(sandbox);
    await sandbox.ip('node', `addr add ${otherPodAddress.ipv4}/32 dev lo`);
    const running = startProof(sandbox, linkerdPod, { configuration });
    await running.started;
    await sleep(1400);
    running.signal('SIGSTOP');
    const host = podAddress.ipv4;
    const peer = { host, port: 80, from: otherPodAddress.ipv4, only: 'connect' } as const;
    const last = { host, port: portOf(linkerdPod), only: 'connect' } as const;
    const dials = await dialFrom('node', sandbox, [...Array(5).fill(peer), last]);
    assert.equal(dials.at(-1), 'connected');
    await sleep(1200);
    running.signal('SIGCONT');
    await sleep(500);
    // after its proof, the validator waits for a signal and ends with 0
    running.signal('SIGTERM');
    const { code, log } = await running.ended;
    assert.equal(code, 0, log);
  });

  test("if the mesh's rule is missing, only the check of the mesh's profile fails", async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    await write(linkerd())(sandbox);
    await flushInbound(sandbox);
    const { proof } = await witnessed(sandbox, linkerdPod, {});
    const failed = proof.message.checks.filter(({ passed }) => !passed).map(({ profile }) => profile);
    assert.deepEqual(failed, ['linkerd'], proof.log);
  });
});

test("Istio with TPROXY: only the proxy can accept the kubelet's connection, and the pod passes without it", async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4' });
  await write(istio({ transparent: true }))(sandbox);
  await listen(sandbox, 'pod', { host: '0.0.0.0', tcp: [80], manner: 'banner' });
  const dials = await dialFrom('node', sandbox, [{ host: podAddress.ipv4, port: 80 }]);
  assert.deepEqual(dials, ['silence']);
  const annotations = { ...istioPod.annotations, 'sidecar.istio.io/interceptionMode': 'TPROXY' };
  const { code, log } = await startProof(sandbox, { ...istioPod, annotations }, { configuration }).ended;
  assert.equal(code, 0, log);
});

test('at rest: less than 1 MB of private memory, an immediate end, and a port that a restart can use', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4' });
  const running = startProof(sandbox, plain, { configuration });
  await running.started;
  await kubelet(sandbox, running, portOf(plain));
  await sleep(500);
  // a restarted kubelet dials again
  assert.ok(await kubelet(sandbox, running, portOf(plain)));
  const memory = readFileSync(`/proc/${running.pid()}/smaps_rollup`, 'utf8');
  const own = [...memory.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, kB]) => Number(kB));
  const start = performance.now();
  running.signal('SIGTERM');
  const { code, message } = await running.ended;
  assert.equal(code, 0);
  assert.deepEqual(message.sandbox, { netns: String(sandbox.inode), bootId: bootId() });
  assert.ok(performance.now() - start < 100, `${performance.now() - start} ms`);
  const sum = own.reduce((a, b) => a + b, 0);
  console.log(`${sum} kB of memory at rest`);
  assert.ok(own.length === 2 && sum < 1000, memory);
  // an earlier connection may still be in TIME_WAIT
  const again = await witnessed(sandbox, plain, {});
  assert.deepEqual([again.connected, again.proof.code], [true, 0], again.proof.log);
});

describe('a later run in the same sandbox', { concurrency: 3 }, () => {
  /** A sandbox with linkerd's rules, after a first run that the kubelet reached and a test killed, or that failed. */
  async function afterFirst(passes: boolean): Promise<Sandbox> {
    const sandbox = await Sandbox.make({ families: 'ipv4' });
    await write(linkerd())(sandbox);
    if (!passes) await flushInbound(sandbox);
    const first = startProof(sandbox, linkerdPod, { configuration });
    await first.started;
    assert.equal(await kubelet(sandbox, first, portOf(linkerdPod)), passes);
    if (passes) {
      await atRest(first);
      first.signal('SIGKILL');
    }
    const { code, log } = await first.ended;
    if (!passes) assert.equal(code, 95, log);
    return sandbox;
  }

  const proxy: Listening = { host: '0.0.0.0', tcp: [4140, 4143], manner: 'silent' };

  for (const [what, prepare] of [
    ['the proxy runs', (sandbox: Sandbox) => listen(sandbox, 'pod', proxy)],
    [
      'the network is lost',
      (sandbox: Sandbox) => listen(sandbox, 'pod', proxy).then(() => sandbox.ip('pod', 'link set eth0 down')),
    ],
    ['the proxy comes later', undefined],
  ] as const) {
    test(`after a pass: it waits, has no verdict, and leaves the proxy its ports; ${what}`, async () => {
      await using sandbox = await afterFirst(true);
      await prepare?.(sandbox);
      const again = startProof(sandbox, linkerdPod, { configuration });
      await again.started;
      if (prepare === undefined) await listen(sandbox, 'pod', proxy);
      await atRest(again);
      if (what !== 'the network is lost')
        assert.ok(await kubelet(sandbox, again, portOf(linkerdPod)), 'the proxy answers the startup probe');
      again.signal('SIGTERM');
      const { code, message, log } = await again.ended;
      assert.deepEqual([code, message.verdict, message.checks], [0, undefined, undefined], log);
      assert.doesNotMatch(log, /^verdict|witness/m);
    });
  }

  test('after a pass without a proxy: the kubelet stops the run, and the next one proves the network', async () => {
    await using sandbox = await afterFirst(true);
    const again = startProof(sandbox, linkerdPod, { configuration });
    // a signal that arrives before the validator has begun would be lost, so the test waits for the validator's message
    while (again.termination() === '') await sleep(20);
    again.signal('SIGTERM');
    const { code, message, log } = await again.ended;
    assert.deepEqual([code, message.verdict], [143, 'stopped'], log);
    const { proof, connected } = await witnessed(sandbox, linkerdPod, {});
    assert.deepEqual([connected, proof.message.verdict], [true, 'passed'], proof.log);
  });

  test('after a failure: it proves the network', async () => {
    await using sandbox = await afterFirst(false);
    await write(linkerd())(sandbox);
    const { proof, connected } = await witnessed(sandbox, linkerdPod, {});
    assert.deepEqual([connected, proof.code, proof.message.verdict], [true, 0, 'passed'], proof.log);
  });
});

/** Waits until a validator has replaced itself with the program that only waits for a signal. */
async function atRest(running: RunningProof): Promise<void> {
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  const commandLine = (): string => readFileSync(`/proc/${running.pid()}/cmdline`, 'utf8');
  while (!ended && !commandLine().includes('wait-for-signal')) await sleep(20);
  assert.equal(ended, false, 'the validator ended');
}

function portOf(pod: PodSpecimen): number {
  const probe = injected(pod, 'enforce', configuration).container.startupProbe;
  return (probe as { tcpSocket: { port: number } }).tcpSocket.port;
}

interface Dialling {
  late?: InboundState['late'] | undefined;
  dialsFrom?: number;
  from?: string | undefined;
}

/**
 * Runs the validator while a kubelet dials it, until the validator fails. If the kubelet reaches the validator, ends
 * the validator a moment later.
 */
async function witnessed(
  sandbox: Sandbox,
  pod: PodSpecimen,
  { late, dialsFrom = 0, from }: Dialling,
): Promise<{ proof: Proof; connected: boolean }> {
  const running = startProof(sandbox, pod, { configuration });
  await running.started;
  const changed = late && sleep(late.after).then(() => late.step(sandbox));
  await sleep(dialsFrom);
  const connected = await kubelet(sandbox, running, portOf(pod), from);
  await changed;
  if (connected) {
    // waits longer with `from`: after a connection that may come from another pod, the validator waits for 10 s
    await sleep(from === undefined ? 500 : 10_500);
    running.signal('SIGTERM');
  }
  return { proof: await running.ended, connected };
}

/** Dials once a second until a connect succeeds or the validator ends. @returns whether a connect succeeded */
async function kubelet(
  sandbox: Sandbox,
  running: RunningProof,
  port: number,
  from?: string,
): Promise<boolean> {
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  // a test may have removed the node's own address
  const hasAddress = (await sandbox.exec('node', 'ip', ['address', 'show', 'lo'])).includes(nodeAddress.ipv4);
  const family: Family = sandbox.families === 'ipv6' ? 'ipv6' : 'ipv4';
  const latest = performance.now() + 60_000;
  while (!ended) {
    // gives up after a minute, because a proof without a witness would wait forever
    if (performance.now() > latest) running.signal('SIGTERM');
    const host = podAddress[family];
    const [result] = await dialFrom('node', sandbox, [
      { host, port, only: 'connect', ...(hasAddress && { from: from ?? nodeAddress[family] }) },
    ]);
    if (result === 'connected') return true;
    await sleep(1000);
  }
  return false;
}
