import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../support/run.ts';
import { gatewayAddress } from './harness/addresses.ts';
import { addPod, startIn } from './harness/node-pods.ts';
import { ports, withoutIcmpLimit } from './harness/rechecks.ts';
import { Sandbox } from './harness/sandbox.ts';

/*
 * Rechecks in many pods of a node. With CNI_GATE_DAY=1, the test of a day makes as many rechecks as one pod makes in a
 * day with an interval of 1 s. A working pod never loses its readiness.
 */

const day = process.env.CNI_GATE_DAY === '1';
const count = Number(process.env.CNI_GATE_DAY_PODS ?? (day ? 110 : 10));
const seconds = Number(process.env.CNI_GATE_DAY_SECONDS ?? (day ? 86_400 / count : 10));

const timeout = '10s';
const checks = [
  { profile: 'way', address: { timeout } },
  { profile: 'way', gateway: { required: true, timeout } },
  { profile: 'way', witness: { port: ports.startup, timeout } },
];
const listening = new RegExp(` 00000000:${ports.readiness.toString(16).toUpperCase()} 00000000:0000 0A`);

/** A program that makes rechecks in a pod. */
interface Program {
  pod: string;
  address: string;
  log(): string;
  isOpen(): boolean;
  /** Processor time in seconds. */
  time(): number;
}

/** Adds pods to the node, with rechecks as after a passed proof, and waits until each has passed a recheck. */
async function startPods(node: Sandbox, many: number, interval: number): Promise<Program[]> {
  await withoutIcmpLimit(node);
  const pods: Awaited<ReturnType<typeof addPod>>[] = [];
  for (let index = 0; index < many; index++) pods.push(await addPod(node, index));
  const programs = pods.map(({ name, addresses }) => {
    // the port is closed: the first recheck opens it
    const continuous = { port: ports.readiness, interval: `${interval}s`, failures: 3 };
    const { child, log } = startIn(name, 'recheck 0 -1 -1', { checks, podIPs: addresses, continuous });
    node.onRemoval(async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'close');
    });
    return {
      pod: name,
      address: String(addresses[0]),
      log,
      isOpen: () => listening.test(readFileSync(`/proc/${child.pid}/net/tcp`, 'utf8')),
      time: () => Number(readFileSync(`/proc/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9,
    };
  });
  const end = performance.now() + 60_000;
  while (!programs.every(({ isOpen }) => isOpen())) {
    assert.ok(performance.now() < end, 'not all ports opened');
    await sleep(500);
  }
  return programs;
}

/** Asserts that, for this time, each port is open, and no network is reported as lost. @returns the log of all pods */
async function allStayOpen(programs: Program[], milliseconds: number): Promise<string> {
  const text = (): string => programs.map(({ log }) => log()).join('');
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    await sleep(Math.min(1000, until - performance.now()));
    assert.ok(
      programs.every(({ isOpen }) => isOpen()),
      text(),
    );
  }
  assert.doesNotMatch(text(), /network lost/);
  return text();
}

test(`a day of one pod, divided among ${count} pods, with lost packets: no network counts as lost`, {
  timeout: (seconds + 120) * 1000,
}, async (t) => {
  await using node = await Sandbox.make({ gateway: 'none', families: 'ipv4' });
  const programs = await startPods(node, count, 1);
  const loss = 'type filter hook prerouting priority -300; iifname "pod*" numgen random mod 100 == 0 drop;';
  await node.exec('node', 'nft', ['-f', '-'], `table inet loss { chain c { ${loss} }; }\n`);
  const used = (): number => programs.reduce((sum, { time }) => sum + time(), 0);
  const before = used();
  const text = await allStayOpen(programs, seconds * 1000);
  const failed = text.match(/^recheck failed/gm)?.length ?? 0;
  t.diagnostic(
    `about ${Math.round(seconds * count)} rechecks in ${Math.round(seconds)} s: ${failed} failed alone; ` +
      `${((((used() - before) / seconds) * 100) / 60).toFixed(2)} % of a core for ${count} pods with an interval of 60 s`,
  );
});

test('an agent is updated, and routes of 30 pods are gone for less than two intervals: no network counts as lost', {
  timeout: 120_000,
}, async () => {
  await using node = await Sandbox.make({ gateway: 'none', families: 'ipv4' });
  const programs = await startPods(node, 30, 4);
  /** Adds or deletes the node's routes to the pods, and the pods' default routes. */
  const route = async (change: 'add' | 'del'): Promise<void> => {
    await node.ip('node', ...programs.map(({ address }, at) => `route ${change} ${address} dev pod${at}`));
    const out = ['route', change, 'default', 'via', gatewayAddress.ipv4, 'dev', 'eth0'];
    await Promise.all(programs.map(({ pod }) => run('ip', ['-netns', pod, ...out])));
  };
  for (let round = 0; round < 3; round++) {
    await route('del');
    await allStayOpen(programs, 3000);
    await route('add');
    await allStayOpen(programs, 3000);
  }
  const failed = programs.filter(({ log }) => /^recheck failed/m.test(log()));
  assert.ok(failed.length > 15, 'too few pods had a failed recheck');
});
