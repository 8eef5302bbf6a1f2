import assert from 'node:assert/strict';
import { chmodSync, globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { env, exitCode } from '../../validator/shared/contract.ts';
import { parsePolicy } from '../../webhook/config/load.ts';
import { buildValidator, runImage, tryDocker, validatorImage } from './docker.ts';
import { assertLabels, exportFiles, inspectImage } from './exported.ts';

await buildValidator();
const { Config: config, Size: size } = await inspectImage(validatorImage);
const folder = mkdtempSync(join(tmpdir(), 'validator-'));
const files = join(folder, 'root');
await exportFiles(validatorImage, files);

const program = 'app/cni-gate-validator';
const addressCheck = (timeout: string, address: string): string[] => [
  `--env=${env.checks}=${JSON.stringify([{ profile: 'x', address: { timeout } }])}`,
  `--env=${env.podIPs}=${address}`,
];

test('it distinguishes wrong usage from a failed proof', () => {
  assert.equal(runImage(validatorImage, 'validate').status, exitCode.wrongUsage);
  assert.equal(runImage(validatorImage).status, exitCode.wrongUsage);
  const { stdout, status } = runImage(...addressCheck('100ms', '203.0.113.9'), validatorImage, 'validate');
  assert.equal(status, exitCode.failed, stdout);
  assert.match(stdout, /203\.0\.113\.9/);
});

test('it proves the address that the engine gave the container, and leaves its message where the kubelet reads it', () => {
  const address = '172.31.36.9';
  const message = join(folder, 'termination-log');
  writeFileSync(message, '');
  // the kubelet makes the file writable for everybody
  chmodSync(message, 0o666);
  tryDocker('network', 'create', '--subnet=172.31.36.0/24', 'proved');
  const { stdout, status } = runImage(
    ...['--network=proved', `--ip=${address}`, `--volume=${message}:/dev/termination-log`],
    ...addressCheck('5s', address),
    ...[validatorImage, 'validate'],
  );
  tryDocker('network', 'rm', 'proved');
  assert.equal(status, 0, stdout);
  assert.equal(JSON.parse(readFileSync(message, 'utf8')).verdict, 'passed');
});

test('the injected memory limit is enough for the runtime and for a thousand checks', () => {
  const limit = String(parsePolicy().proof.resources.limits.memory).replace('Mi', 'm');
  const one = { profile: 'x', address: { timeout: '100ms' } };
  const { stdout, status } = runImage(
    ...[`--memory=${limit}`, `--memory-swap=${limit}`],
    ...[`--env=${env.checks}=${JSON.stringify(Array(1000).fill(one))}`, `--env=${env.podIPs}=203.0.113.9`],
    ...[validatorImage, 'validate'],
  );
  assert.equal(status, exitCode.failed, stdout);
});

test('it runs as a numeric user that is not root, and passes the arguments of the container to the program', () => {
  assert.equal(config.User, '64532:64532');
  assert.deepEqual(config.Entrypoint, [`/${program}`]);
  assert.deepEqual(config.Cmd ?? [], []);
  assert.equal(config.Healthcheck, undefined);
});

test('labels name the image and its version', () => assertLabels(config, 'cni-gate-validator'));

test('it contains only the program, its license and the licenses of what is compiled in', () => {
  // the engine puts some files into every container
  const own = globSync('**', { cwd: files, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(files.length + 1))
    .filter((path) => !/^(dev|etc|proc|sys)\//.test(path));
  assert.deepEqual(own.sort(), ['app/LICENSE', 'app/LICENSES', program]);
  const licenses = readFileSync(join(files, 'app/LICENSES'), 'utf8');
  for (const name of ['nix [0-9.]+', 'rquickjs [0-9.]+', 'QuickJS', 'musl'])
    assert.match(licenses, new RegExp(`^${name}\n-+\n`, 'm'));
});

test('it is smaller than 3 MB, and than 2 MB if it is compressed', (t) => {
  const compressed = gzipSync(readFileSync(join(files, program))).length;
  t.diagnostic(`${(size / 1e6).toFixed(2)} MB, compressed ${(compressed / 1e6).toFixed(2)} MB`);
  assert.ok(size < 3e6, `${size} bytes`);
  assert.ok(compressed < 2e6, `${compressed} bytes compressed`);
});
