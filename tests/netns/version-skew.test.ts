import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exitCode } from '../../validator/shared/contract.ts';
import { requireMachine } from './harness/machine.ts';

/*
 * The validator's image with a container that a server of another release injected: docs/decisions/images-and-releases.md. The
 * names are written out, because another release does not follow a change of this one.
 */
before(requireMachine);

const program = fileURLToPath(new URL('../../dist/host/cni-gate-validator', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-skew-'));
after(() => rmSync(folder, { recursive: true }));
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const { port } = server.address() as AddressInfo;
const reach = { host: '127.0.0.1', port, timeout: '10s' };

async function run(environment: Record<string, string>) {
  const message = join(folder, `${Math.random()}`);
  const child = spawn(program, ['validate', '--termination-log', message], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const [code] = await once(child, 'close');
  return { code, log, verdict: JSON.parse(readFileSync(message, 'utf8')).verdict };
}

const checks = (...list: object[]): Record<string, string> => ({ CNI_GATE_CHECKS: JSON.stringify(list) });

test('all that release 0.1.0 injects is read', async () => {
  const { code, log, verdict } = await run({
    ...checks({ profile: 'db', reach }),
    CNI_GATE_MODE: 'warn',
    CNI_GATE_POD_IPS: '10.9.0.2,fd00::2',
    CNI_GATE_POD_NAMESPACE: 'apps',
    CNI_GATE_NETWORKS: '',
    CNI_GATE_NETWORK_STATUS_FILE: '/run/cni-gate/network-status',
  });
  assert.deepEqual([code, verdict], [exitCode.passed, 'passed'], log);
});

test('an older server sets fewer variables: what a check does not need may be absent', async () => {
  const { code, log } = await run(checks({ profile: 'db', reach }));
  assert.equal(code, exitCode.passed, log);
});

test('a newer server sets a variable that this release does not know: it has no effect', async () => {
  const { code, log } = await run({ ...checks({ profile: 'db', reach }), CNI_GATE_FUTURE: 'x' });
  assert.equal(code, exitCode.passed, log);
});

for (const [what, check] of [
  ['check', { profile: 'db', future: {} }],
  ['setting', { profile: 'db', reach: { ...reach, future: true } }],
] as const) {
  test(`a newer server asks for a ${what} that this release does not know: wrong usage, and nothing passes`, async () => {
    const { code, log, verdict } = await run(checks({ profile: 'db', reach }, check));
    assert.deepEqual([code, verdict], [exitCode.wrongUsage, 'wrong-usage'], log);
    assert.match(log, new RegExp(`unknown ${what} future \\(this program may be older than its injector\\)`));
  });
}

test('a mode that this release does not know blocks as enforce does', async () => {
  const refused = { profile: 'db', reach: { ...reach, host: '127.0.0.2', timeout: '100ms' } };
  const { code, log } = await run({ ...checks(refused), CNI_GATE_MODE: 'future' });
  assert.ok(code === exitCode.failed || code === exitCode.notPossible, log);
});
