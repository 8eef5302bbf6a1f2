import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { env, exitCode } from '../../validator/shared/contract.ts';

/*
 * The cross-compiled validator for arm64, which QEMU runs on a machine with another architecture. The suite also runs
 * tests/netns/program.test.ts with it.
 */

const file = readFileSync(new URL('../../dist/host-arm64/cni-gate-validator', import.meta.url));

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

for (const [what, check, seen] of [
  [
    'an address of the pod that no interface has',
    { address: { timeout: '100ms' } },
    /address IPv4 failed \(address-missing\): expected 203\.0\.113\.9 on an interface/,
  ],
  [
    'a mesh without its rules',
    { redirect: { direction: 'outbound', listen: 4140, connect: ['192.0.2.1:20001'], timeout: '2s' } },
    /redirect IPv4 failed/,
  ],
] as const)
  test(`${what}: failed`, () => {
    const [program = '', ...emulated] = process.env.CNI_GATE_TEST_HOST?.split(' ') ?? [];
    const { status, stdout } = spawnSync(
      program,
      [...emulated, 'validate', '--termination-log', '/dev/null'],
      {
        env: { [env.checks]: JSON.stringify([{ profile: 'a', ...check }]), [env.podIPs]: '203.0.113.9' },
        encoding: 'utf8',
      },
    );
    assert.equal(status, exitCode.failed, stdout);
    assert.match(stdout, seen);
  });
