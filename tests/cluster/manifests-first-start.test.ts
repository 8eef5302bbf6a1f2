import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './harness/eventually.ts';
import { installed, trusted } from './installed/installation.ts';
import type { RunningPod } from './installed/pod.ts';

/*
 * A fresh installation: nothing is wrong, so nothing may be logged at warn or above. Then something is wrong.
 */

const { cluster, replicas } = await installed('strict');

/** How long a replica may take to do everything once, in milliseconds: its slowest clock ticks every 15 s. */
const settle = 20_000;

const warnings = ({ lines }: RunningPod) => lines.filter(({ level }) => level !== 'info');
const logged = (text: RegExp): object[] =>
  replicas.flatMap(({ lines }) => lines).filter(({ msg }) => text.test(String(msg)));

test('a first start with managed certificates logs nothing at warn or above', async () => {
  await eventually(async () => {
    for (const { ops, lines } of replicas) {
      assert.equal((await ops('/readyz')).status, 200);
      assert.ok(lines.some(({ msg }) => msg === 'nodes and DaemonSets are known'));
    }
    assert.equal(logged(/^this replica leads$/).length, 1);
  });
  await sleep(settle);
  assert.deepEqual(replicas.map(warnings), [[], []]);
  assert.equal(logged(/^certificates: created a new authority$/).length, 1);
  assert.equal(logged(/^the caBundle of \w+\/cni-gate was filled in$/).length, 2);
});

test('levels are words, and times are ISO 8601', () => {
  for (const { lines } of replicas) {
    assert.ok(lines.length > 0);
    for (const { level, time } of lines) {
      assert.equal(level, 'info');
      assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  }
});

test('a Secret that is deleted, and a caBundle that is emptied later, are warnings', async () => {
  await cluster.kubectl(['-n', 'cni-gate', 'delete', 'secret', 'cni-gate-tls']);
  await eventually(async () => {
    const [reported] = logged(/^the Secret does not exist \(CNI_GATE_TLS_SECRET\); repaired: written back/);
    assert.partialDeepStrictEqual(reported, { level: 'warn' });
  });
  const wipe = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }];
  await cluster.kubectl([
    ...['patch', 'mutatingwebhookconfiguration', 'cni-gate', '--type=json', '-p', JSON.stringify(wipe)],
  ]);
  await trusted(cluster);
  await eventually(async () => {
    const [reported] = logged(/^the caBundle of mutating\/cni-gate was empty; repaired$/);
    assert.partialDeepStrictEqual(reported, { level: 'warn' });
  });
});
