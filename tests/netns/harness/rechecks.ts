import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Continuous } from '../../../validator/shared/contract.ts';
import { configurationOf } from '../../support/configurations.ts';
import { nodeAddress, podAddress } from './addresses.ts';
import { dialFrom } from './dial.ts';
import type { PodSpecimen } from './pods.ts';
import { type RunningProof, startProof } from './proof.ts';
import type { Sandbox } from './sandbox.ts';

/** The ports that the webhook chooses: the first ones that no container declares. */
export const ports = { startup: 14_040, readiness: 14_041 };

/** A recheck every second, so that a test does not take minutes. */
export const everySecond: Continuous = { port: ports.readiness, interval: '1s', failures: 3 };

/** The longest time, in milliseconds, until a broken network is reported: four intervals, on a busy machine. */
const longest = 12_000;

const timeout = '10s';
/** The tests' own profiles, which are combined with built-in ones. */
export const configuration = configurationOf({
  profiles: [
    { name: 'seen', proof: { witness: 'kubelet' } },
    {
      name: 'way',
      proof: {
        checks: [
          { address: { timeout } },
          { gateway: { required: true, timeout } },
          { roundTrip: { mode: 'require', timeout } },
        ],
      },
    },
    {
      name: 'guarded',
      when: { namespaceLabels: { guarded: 'yes' } },
      proof: {
        checks: [
          { policy: { blocked: [`${nodeAddress.ipv4}:443`], allowed: [`${nodeAddress.ipv4}:53`], timeout } },
        ],
      },
    },
  ],
});

/** Removes the node's limit on ICMP answers per second: with a recheck every second, these tests would reach it. */
export const withoutIcmpLimit = (sandbox: Sandbox): Promise<string> =>
  sandbox.exec('node', 'sh', ['-c', 'echo 0 > /proc/sys/net/ipv4/icmp_ratelimit']);

/** Starts the validator, connects like the kubelet, and waits until the validator rests after its proof. */
export async function startWatched(
  sandbox: Sandbox,
  pod: PodSpecimen,
  continuous: Continuous = everySecond,
  from: string = nodeAddress.ipv4,
): Promise<RunningProof> {
  await withoutIcmpLimit(sandbox);
  const running = startProof(sandbox, pod, { configuration, continuous });
  await running.started;
  const ended = running.ended.catch(() => {});
  // the death of its parent does not end the program, because a change of the user clears the parent-death signal
  sandbox.onRemoval(async () => {
    try {
      running.signal('SIGKILL');
    } catch {
      // the program has ended already
    }
    await ended;
  });
  const dial = { host: podAddress.ipv4, port: ports.startup, from, only: 'connect' } as const;
  for (let count = 0; count < 30 && !running.log().includes('verdict'); count++) {
    await dialFrom('node', sandbox, [dial]);
    await sleep(300);
  }
  assert.match(running.log(), /^verdict: passed/m);
  return running;
}

/** Whether a program listens on a port of IPv4 in the network namespace of a process. */
export function isOpen(running: RunningProof, port = ports.readiness): boolean {
  const hex = port.toString(16).toUpperCase();
  return new RegExp(`: 00000000:${hex} 00000000:0000 0A`).test(
    readFileSync(`/proc/${running.pid()}/net/tcp`, 'utf8'),
  );
}

/** Whether the program is making a recheck, instead of resting. */
export const isRechecking = (running: RunningProof): boolean =>
  readFileSync(`/proc/${running.pid()}/cmdline`, 'utf8').split('\0')[1] === 'recheck';

/** Waits until the log or the port is as expected. */
export async function until(
  running: RunningProof,
  condition: () => boolean,
  what: string,
  time = longest,
): Promise<void> {
  const end = performance.now() + time;
  while (!condition()) {
    assert.ok(performance.now() < end, `not within ${time} ms: ${what}\n${running.log()}`);
    await sleep(20);
  }
}

/** Asserts that the readiness port stays open for a time, and that nothing is reported as lost. */
export async function staysOpen(running: RunningProof, milliseconds: number): Promise<void> {
  for (const end = performance.now() + milliseconds; performance.now() < end; await sleep(20))
    assert.ok(isOpen(running), running.log());
  assert.doesNotMatch(running.log(), /network lost/);
}

/** Processor time of a process in milliseconds, including that of the programs that it replaced. */
export const processorTime = (running: RunningProof): number =>
  Number(readFileSync(`/proc/${running.pid()}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
