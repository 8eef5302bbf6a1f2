import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { env } from '../../validator/shared/contract.ts';
import { nodeAddress } from './harness/addresses.ts';
import { pathOf } from './harness/namespaces.ts';
import { addPod } from './harness/node-pods.ts';
import { validator } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';

/* As many pods as a node runs by default start at once. */

const count = 110;

/** Starts the checks in all pods of the node at once. Returns the seconds from each start to its verdict, in order. */
async function proveAll(node: Sandbox, checks: object[]): Promise<number[]> {
  const pods: Awaited<ReturnType<typeof addPod>>[] = [];
  for (let index = 0; index < count; index++) pods.push(await addPod(node, index));
  const runs = pods.map(({ name, addresses }) => {
    const environment = {
      [env.checks]: JSON.stringify(checks),
      [env.podIPs]: addresses.join(','),
      [env.nodeIPs]: Object.values(nodeAddress).join(','),
    };
    const ids = ['--reuid=64532', '--regid=64532', '--clear-groups', '--bounding-set=-all'];
    const command = ['nsenter', `--net=${pathOf(name)}`, 'setpriv', ...ids, validator, 'validate'];
    // each waits until its standard input ends, so that all start together
    return spawn('sh', ['-c', `read _; exec ${command.join(' ')}`], {
      env: { ...process.env, ...environment },
    });
  });
  const ends = runs.map(async (child) => {
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 0, log);
    return Number(/after ([\d.]+) s/.exec(log)?.[1]);
  });
  for (const child of runs) child.stdin.end();
  return (await Promise.all(ends)).toSorted((a, b) => a - b);
}

// The node limits its ICMP messages, but each pod gets answers. The limits of a network namespace are as high as those
// of a node. Since Linux 6.12, each namespace has its own limits; in earlier versions, all namespaces share the limits.
test(`${count} validators at once on one node, with roundTrip required: all pass within 2 s`, async (t) => {
  await using node = await Sandbox.make({ gateway: 'none' });
  const checks = [{ profile: 'cilium', roundTrip: { mode: 'require', timeout: '10s' } }];
  const seconds = await proveAll(node, checks);
  t.diagnostic(`start to verdict: median ${seconds[count / 2]} s, longest ${seconds.at(-1)} s`);
  assert.ok((seconds.at(-1) ?? 9) <= 2, `${seconds}`);
});
