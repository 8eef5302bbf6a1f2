import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { env, exitCode } from '../../validator/shared/contract.ts';

/* The cross-compiled validator for arm64. On a machine with another architecture, QEMU runs it. */

const file = readFileSync(new URL('../../dist/host-arm64/cni-gate-validator', import.meta.url));
const command = fileURLToPath(new URL('./command.sh', import.meta.url));

/** Runs the checks and returns the validator's exit code and log. */
async function validate(...checks: object[]): Promise<{ code: number | null; log: string }> {
  const child = spawn('bash', ['-c', `exec $('${command}') validate --termination-log /dev/null`], {
    env: { PATH: process.env.PATH, [env.checks]: JSON.stringify(checks), [env.podIPs]: '203.0.113.9' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const [code] = await once(child, 'close');
  return { code, log };
}

/** The machine, and the types of the program headers, of a 64-bit ELF file: elf(5). */
function elf(): { machine: number; headers: number[] } {
  const offset = Number(file.readBigUInt64LE(32));
  const [size, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  const headers = Array.from({ length: count }, (_, index) => file.readUInt32LE(offset + index * size));
  return { machine: file.readUInt16LE(18), headers };
}

test('the program is for arm64, and static: no loader is named', () => {
  const { machine, headers } = elf();
  assert.equal(file.toString('latin1', 0, 4), '\x7fELF');
  // EM_AARCH64
  assert.equal(machine, 183);
  // the file has PT_LOAD and no PT_INTERP, so it is statically linked
  assert.ok(headers.includes(1));
  assert.ok(!headers.includes(3));
});

// the loopback of a container often has no IPv6 address
const loopback = networkInterfaces().lo?.map(({ address }) => address) ?? [];
for (const [host, address] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['localhost', '127.0.0.1'],
] as const) {
  const skip = !loopback.includes(address) && `this machine has no ${address}`;
  test(`a server at ${host} is reached: proved`, { skip }, async (t) => {
    const server = createServer().listen(0, address);
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { code, log } = await validate({ profile: 'db', reach: { host, port, timeout: '60s' } });
    assert.equal(code, exitCode.passed, log);
  });
}

test('an address of the pod that no interface has: failed', async () => {
  const { code, log } = await validate({ profile: 'cilium', address: { timeout: '100ms' } });
  assert.equal(code, exitCode.failed, log);
  assert.match(log, /address IPv4 failed \(address-missing\): expected 203\.0\.113\.9 on an interface/);
});

test('a mesh without its rules: failed', async () => {
  const { code, log } = await validate({
    profile: 'linkerd',
    redirect: { direction: 'outbound', listen: 4140, connect: ['192.0.2.1:20001'], timeout: '2s' },
  });
  assert.equal(code, exitCode.failed, log);
});
