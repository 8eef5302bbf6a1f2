import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { nodeAddress } from './harness/addresses.ts';
import { listen } from './harness/listeners.ts';
import { addPod, startIn } from './harness/node-pods.ts';
import { Sandbox } from './harness/sandbox.ts';

/** The maximum number of pods that a node runs by default, 110, start at the same time. */

const count = 110;

/**
 * Starts the checks in all pods of the node at the same time. Returns the seconds from each start to its verdict, in
 * ascending order.
 */
async function proveAll(node: Sandbox, checks: object[], begun = async () => {}): Promise<number[]> {
  const pods: Awaited<ReturnType<typeof addPod>>[] = [];
  for (let index = 0; index < count; index++) pods.push(await addPod(node, index));
  // each program waits until its standard input ends, so that all programs start together
  const runs = pods.map(({ name, addresses }) =>
    startIn(name, 'validate', { checks, podIPs: addresses }, '{ read _ || :; }'),
  );
  const ends = runs.map(async ({ child, log }) => {
    const [code] = await once(child, 'close');
    assert.equal(code, 0, log());
    return Number(/after ([\d.]+) s/.exec(log())?.[1]);
  });
  for (const { child } of runs) child.stdin.end();
  const [seconds] = await Promise.all([Promise.all(ends), begun()]);
  return seconds.toSorted((a, b) => a - b);
}

const saidOf = (seconds: number[]): string =>
  `start to verdict: median ${seconds[count / 2]} s, longest ${seconds.at(-1)} s`;

// The node limits its ICMP messages, but each pod gets answers. The limits of a network namespace are as high as those
// of a node. Since Linux 6.12, each namespace has its own limits; in earlier versions, all namespaces share the limits.
test(`${count} simultaneous validators on one node, with roundTrip required: all pass within 2 s`, async (t) => {
  await using node = await Sandbox.make({ gateway: 'none' });
  const checks = [{ profile: 'cilium', roundTrip: { mode: 'require', timeout: '10s' } }];
  const seconds = await proveAll(node, checks);
  t.diagnostic(saidOf(seconds));
  assert.ok((seconds.at(-1) ?? 9) <= 2, `${seconds}`);
});

test(`${count} simultaneous validators, with a policy that is enforced 3 s late: few connections, and all pass`, async (t) => {
  await using node = await Sandbox.make({ gateway: 'none' });
  await listen(node, 'node', { host: '::', tcp: [443, 53], manner: 'silent' });
  const rulesFor = (verdict: string): string => `table inet agent {
    counter asked { }
    chain c {
      type filter hook input priority 0
      tcp dport 443 tcp flags syn / syn,ack counter name asked ${verdict}
    }
  }\n`;
  await node.exec('node', 'nft', ['-f', '-'], rulesFor('accept'));
  const [blocked, allowed] = [443, 53].map((port) => [`${nodeAddress.ipv4}:${port}`]);
  const checks = [{ profile: 'deny', policy: { blocked, allowed, timeout: '30s' } }];
  const seconds = await proveAll(node, checks, async () => {
    await wait(3000);
    await node.exec('node', 'nft', ['-f', '-'], `flush chain inet agent c\n${rulesFor('drop')}`);
  });
  const counter = await node.exec('node', 'nft', ['list', 'counter', 'inet', 'agent', 'asked']);
  const dials = Number(/packets (\d+)/.exec(counter)?.[1]) / count;
  t.diagnostic(`${saidOf(seconds)}; ${dials.toFixed(1)} packets a pod`);
  // at most three dials a second until the policy is enforced; then four in total, each with a retransmission
  const longest = seconds.at(-1) ?? 99;
  assert.ok(longest <= 10 && dials <= 3 * longest + 8, `${dials} packets a pod, ${seconds}`);
});
