import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hierarchyOf } from '../support/cgroups.ts';
import { podAddress } from './harness/addresses.ts';
import { startIn } from './harness/node-pods.ts';
import { Sandbox } from './harness/sandbox.ts';

/* The program with little processor time, or without the kernel's tables in /proc: no pod with a good network fails. */

const way = (timeout: string): object[] => [
  { profile: 'way', address: { timeout } },
  { profile: 'way', gateway: { required: true, timeout } },
  { profile: 'way', roundTrip: { mode: 'require', timeout } },
];

function start({ pod }: Sandbox, checks: object[], first?: string) {
  const { child, log } = startIn(pod, 'validate', { checks, podIPs: Object.values(podAddress) }, first);
  return { child, ended: once(child, 'close').then(([code]) => ({ code, log: log() })) };
}

test('50m of CPU and 20,000 routes: a correct pod passes', async (t) => {
  await using sandbox = await Sandbox.make({ gateway: 'by-link-route' });
  const routes = Array.from({ length: 10_000 }, (_, n) => [
    `route add 10.${100 + (n >> 8)}.${n & 255}.0/24 via 10.244.1.1 dev eth0`,
    `route add fd00:${(n + 1).toString(16)}::/64 via fd00:10:244:1::1 dev eth0`,
  ]);
  await sandbox.ip('pod', ...routes.flat());
  const { path, version } = hierarchyOf('cpu');
  const group = join(path, `cni-gate-scarce-${process.pid}`);
  mkdirSync(group);
  sandbox.onRemoval(() => rmdirSync(group));
  if (version === 2) writeFileSync(join(group, 'cpu.max'), '5000 100000');
  else writeFileSync(join(group, 'cpu.cfs_quota_us'), '5000');
  const { code, log } = await start(sandbox, way('10s'), `echo 0 > ${group}/cgroup.procs`).ended;
  assert.equal(code, 0, log);
  t.diagnostic(/after .* s/.exec(log)?.[0] ?? '');
});

test('a program that was suspended until its time was over: starved, not failed', async () => {
  await using sandbox = await Sandbox.make({ gateway: 'by-link-route' });
  const before = 'iifname pod0 meta l4proto udp drop';
  const chain = `table inet state { chain in { type filter hook prerouting priority -300; ${before}; }; }`;
  await sandbox.exec('node', 'nft', ['-f', '-'], chain);
  const { child, ended } = start(sandbox, way('2s'));
  await sleep(800);
  child.kill('SIGSTOP');
  await sleep(2500);
  child.kill('SIGCONT');
  const { code, log } = await ended;
  assert.equal(code, 69, log);
  assert.match(log, /roundTrip IPv4 could not be proved \(starved\).* and no processor time for 2\.\d s/);
});

test('/proc cannot be read: one clear sentence immediately, and checks without it pass', async () => {
  await using sandbox = await Sandbox.make({ gateway: 'by-link-route' });
  const captured = { listeners: [15_001], outbound: 15_001, connect: ['192.0.2.2:1404'], timeout: '10s' };
  const checks = [...way('10s'), { profile: 'ambient', captured }];
  const { code, log } = await start(sandbox, checks, 'mount -t tmpfs none /proc').ended;
  assert.equal(code, 69, log);
  assert.match(
    log,
    /^ambient: captured IPv4 could not be proved \(not-readable\): .*\/proc\/net\/tcp cannot be read/m,
  );
  assert.equal(log.match(/^way: .* passed: /gm)?.length, 6, log);
  assert.ok(Number(/after ([\d.]+) s/.exec(log)?.[1]) < 1, log);
});
