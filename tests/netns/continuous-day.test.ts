import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { env } from '../../validator/shared/contract.ts';
import { nodeAddress } from './harness/addresses.ts';
import { pathOf } from './harness/namespaces.ts';
import { addPod } from './harness/node-pods.ts';
import { validator } from './harness/proof.ts';
import { withoutIcmpLimit } from './harness/rechecks.ts';
import { Sandbox } from './harness/sandbox.ts';

/*
 * Many pods of a node with a recheck every second, while one packet in a hundred is lost. With CNI_GATE_DAY=1, for as
 * many rechecks as one pod makes in a day with an interval of 1 s. A working pod never loses its readiness.
 */

const day = process.env.CNI_GATE_DAY === '1';
const count = Number(process.env.CNI_GATE_DAY_PODS ?? (day ? 110 : 10));
const seconds = Number(process.env.CNI_GATE_DAY_SECONDS ?? (day ? 86_400 / count : 10));
const interval = 1;

test(`${count} pods for ${Math.round(seconds)} s: none is lost`, {
  timeout: (seconds + 120) * 1000,
}, async (t) => {
  await using node = await Sandbox.make({ gateway: 'none', families: 'ipv4' });
  await withoutIcmpLimit(node);
  const timeout = '10s';
  const checks = [
    { profile: 'way', address: { timeout } },
    { profile: 'way', gateway: { required: true, timeout } },
    { profile: 'way', roundTrip: { mode: 'require', timeout } },
    { profile: 'way', witness: { port: 14_040, timeout } },
  ];
  const pods: Awaited<ReturnType<typeof addPod>>[] = [];
  for (let index = 0; index < count; index++) pods.push(await addPod(node, index));
  const programs = pods.map(({ name, addresses }) => {
    const ids = ['--reuid=64532', '--regid=64532', '--clear-groups', '--bounding-set=-all'];
    // as after a first pass, with the port closed: the first recheck opens it
    const args = [...ids, validator, 'recheck', '0', '-1', '-1'];
    const child = spawn('nsenter', [`--net=${pathOf(name)}`, 'setpriv', ...args], {
      env: {
        [env.checks]: JSON.stringify(checks),
        [env.podIPs]: addresses.join(','),
        [env.nodeIPs]: Object.values(nodeAddress).join(','),
        [env.continuous]: JSON.stringify({ port: 14_041, interval: `${interval}s`, failures: 3 }),
        PATH: process.env.PATH,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    node.onRemoval(async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'close');
    });
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const tcp = `/proc/${child.pid}/net/tcp`;
    return {
      log: () => log,
      isOpen: () => / 00000000:36D9 00000000:0000 0A/.test(readFileSync(tcp, 'utf8')),
      time: () => Number(readFileSync(`/proc/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9,
    };
  });
  const end = performance.now() + 60_000;
  while (!programs.every(({ isOpen }) => isOpen())) {
    assert.ok(performance.now() < end, 'each port opens');
    await sleep(500);
  }
  const loss = 'type filter hook prerouting priority -300; iifname "pod*" numgen random mod 100 == 0 drop;';
  await node.exec('node', 'nft', ['-f', '-'], `table inet loss { chain c { ${loss} }; }\n`);
  const used = (): number => programs.reduce((sum, { time }) => sum + time(), 0);
  const [start, before] = [performance.now(), used()];
  const until = start + seconds * 1000;
  let opened = 0;
  while (performance.now() < until) {
    await sleep(Math.min(1000, until - performance.now()));
    opened += programs.filter(({ isOpen }) => isOpen()).length / count;
    assert.ok(
      programs.every(({ isOpen }) => isOpen()),
      programs.map(({ log }) => log()).join(''),
    );
  }
  const elapsed = (performance.now() - start) / 1000;
  const share = (used() - before) / elapsed;
  const text = programs.map(({ log }) => log()).join('');
  const failed = text.match(/^recheck failed/gm)?.length ?? 0;
  t.diagnostic(
    `about ${Math.round((elapsed / interval) * count)} rechecks in ${Math.round(elapsed)} s: ${failed} failed alone; ` +
      `${((share / 60) * 100 * interval).toFixed(2)} % of a core for ${count} pods with an interval of 60 s`,
  );
  assert.doesNotMatch(text, /network lost/);
  assert.ok(opened > 0);
});
