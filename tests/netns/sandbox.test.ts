import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../support/run.ts';
import { podAddress } from './harness/addresses.ts';
import { startContainer } from './harness/container.ts';
import { pathOf } from './harness/namespaces.ts';
import { Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { istio } from './rules/istio.ts';

/* The harness's namespaces are separate from the machine's, confined like containers, and removed afterwards. */
const fixture = (name: string): string => fileURLToPath(new URL(`./harness/${name}`, import.meta.url));

test("a sandbox leaves nothing in the machine's network namespace", async () => {
  await using sandbox = await Sandbox.make();
  await writeRules(sandbox, istio());
  assert.doesNotMatch(await run('ip', ['link']), /pod0/);
  assert.doesNotMatch(await run('ip', ['addr']), new RegExp(podAddress.ipv4));
  assert.doesNotMatch(await run('nft', ['list', 'ruleset']), /ISTIO_/);
  assert.match(await sandbox.exec('pod', 'nft', ['list', 'ruleset']), /ISTIO_/);
});

test('a container has no capability, no /tmp, and only its termination log to write to', async () => {
  await using sandbox = await Sandbox.make();
  const end = await startContainer(sandbox, {
    args: ['/look-around.ts'],
    mounts: { '/look-around.ts': fixture('look-around.ts') },
    environment: { GIVEN: 'a value' },
    user: 1234,
    group: 0,
  }).ended;
  assert.equal(end.code, 0, end.log);
  assert.deepEqual(JSON.parse(end.log), {
    process: 1,
    user: 1234,
    groups: [0],
    networkNamespace: `net:[${sandbox.inode}]`,
    capabilities: ['0000000000000000'],
    noNewPrivileges: '1',
    writable: ['/dev/termination-log'],
    root: ['bin', 'dev', 'lib', 'lib64', 'look-around.ts', 'node', 'proc', 'sbin', 'sys', 'usr'],
    environment: ['GIVEN', 'HOME', 'HOSTNAME', 'PATH'],
  });
  assert.equal(end.termination, 'written');
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} removes the namespaces`, async () => {
    const child = spawn(process.execPath, [fixture('idle.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [names] = await once(child.stdout, 'data');
    const made: string[] = JSON.parse(String(names));
    assert.equal(made.filter((name) => existsSync(pathOf(name))).length, 2);
    child.kill(signal);
    await once(child, 'exit');
    assert.deepEqual(
      made.filter((name) => existsSync(pathOf(name))),
      [],
    );
  });
}
