import assert from 'node:assert/strict';
import { globSync, lstatSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { version } from '../../webhook/lib/version.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { buildServer, checkout, docker, ownImage, restricted, runImage, tryDocker } from './docker.ts';
import { assertLabels, exportFiles, inspectImage } from './exported.ts';

await buildServer();
const { Config: config, Size: size } = await inspectImage(ownImage);
const files = join(mkdtempSync(join(tmpdir(), 'exported-')), 'root');
await exportFiles(ownImage, files);

const node = ['--entrypoint', '/usr/local/bin/node', ownImage, '-p'];

test('the image prints its version', () => {
  const { stdout, stderr, status } = runImage(ownImage, '--version');
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim(), version);
});

test('without arguments, it prints the help', () => {
  const { stdout, status } = runImage(ownImage);
  assert.equal(status, 0);
  assert.match(stdout, /serve/);
});

test('the server serves, and drains on SIGTERM', async (t) => {
  const serve = ['serve', '--profile', 'cilium', '--drain-delay', '0s'];
  const started = ['run', '--detach', ...restricted, '--publish=127.0.0.1::8080', ownImage, ...serve];
  const container = (await docker(...started)).trim();
  t.after(() => docker('rm', '--force', container));
  const address = (await docker('port', container, '8080')).trim();
  await eventually(async () => assert.equal((await fetch(`http://${address}/readyz`)).status, 200));
  await docker('stop', '--time=10', container);
  assert.equal((await docker('inspect', '--format={{.State.ExitCode}}', container)).trim(), '0');
});

test('it runs as a numeric user that is not root, as runAsNonRoot requires', () => {
  assert.equal(config.User, '65532:65532');
  const { stdout } = runImage(...node, '[process.getuid(), process.getgid()].join(":")');
  assert.equal(stdout.trim(), config.User);
});

test('nothing in it can be written, even if its root file system is writable', () => {
  const write = "try { fs.writeFileSync('/tmp/x', ''); 'written' } catch (error) { error.code }";
  assert.equal(runImage(...node, write).stdout.trim(), 'EROFS');
  const own = globSync('app/**', { cwd: files }).filter((path) => {
    const { uid, gid, mode } = lstatSync(join(files, path));
    return uid !== 0 || gid !== 0 || ((mode & 0o022) !== 0 && (mode & 0o170000) !== 0o120000);
  });
  assert.deepEqual(own, []);
});

test('there is no shell and no package manager', () => {
  const { status, stderr } = runImage('--entrypoint', '/bin/sh', ownImage, '-c', 'true');
  assert.equal(status, 127, stderr);
  assert.deepEqual(globSync('{usr/,}{s,}bin/{*sh,busybox,apt*,dpkg,perl*}', { cwd: files }), []);
});

test('the entrypoint is the program, with a small young generation; no health check, and only the variables of the base image', () => {
  const [node, ...given] = config.Entrypoint;
  assert.equal(node, '/usr/local/bin/node');
  assert.deepEqual(given, ['--max-semi-space-size=4', '/app/dist/webhook/main.js']);
  assert.deepEqual(config.Cmd, ['--help']);
  assert.equal(config.Healthcheck, undefined);
  assert.deepEqual(
    config.Env.filter((variable) => !/^(PATH|SSL_CERT_FILE)=/.test(variable)),
    [],
  );
});

test('labels name the image and its version', () => assertLabels(config, 'cni-gate'));

test('it contains the bundle and no package, and the licenses of what is bundled', () => {
  const here = globSync('**', { cwd: join(files, 'app') });
  assert.ok(here.includes('dist/webhook/main.js'));
  assert.deepEqual(
    here.filter((path) => /node_modules|\.(map|[cm]?ts)$/.test(path)),
    [],
  );
  const licenses = readFileSync(join(files, 'app/LICENSES'), 'utf8');
  for (const name of ['fastify', 'pino', '@kubernetes/client-node', 'yaml'])
    assert.match(licenses, new RegExp(`^${name} \\d`, 'm'));
});

test('it contains what commands load on demand: profiles, YAML, diffs', () => {
  const { stdout, stderr, status } = tryDocker(
    ...['run', '--rm', ...restricted, `--volume=${join(checkout, 'examples')}:/examples:ro`],
    ...[ownImage, 'review', '-f', '/examples', '--output', 'junit'],
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /<testsuites/);
});

test('it is smaller than 150 MB, uncompressed', (t) => {
  const megabytes = size / 1e6;
  t.diagnostic(`${megabytes.toFixed(1)} MB`);
  assert.ok(megabytes < 150, `${megabytes.toFixed(1)} MB`);
});
