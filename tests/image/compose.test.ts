import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkout } from './dockerfile.ts';

const module = fileURLToPath(new URL('./compose', import.meta.url));
const text = readFileSync(join(checkout, 'docker-compose.yml'), 'utf8');

/** Loads a compose file as `docker compose config` does, by the library that it uses. */
function load(file: string) {
  const { status, stdout, stderr, error } = spawnSync(
    'go',
    ['run', '-C', module, 'github.com/compose-spec/compose-go/v2/cmd', '-format', 'json', file],
    { encoding: 'utf8' },
  );
  if (error) throw new Error(`NOT RUN: this needs Go 1.26 and its module proxy: ${error.message}`);
  return { status, stdout, stderr };
}

test('docker-compose.yml is one by the compose specification', () => {
  const { status, stdout, stderr } = load(join(checkout, 'docker-compose.yml'));
  assert.equal(status, 0, stderr);
  assert.ok(JSON.parse(stdout).services['kube-apiserver']);
});

test('every image has a fixed tag, but the one that is built here', () => {
  const { services } = JSON.parse(load(join(checkout, 'docker-compose.yml')).stdout);
  const images = Object.values<{ image: string }>(services).map(({ image }) => image);
  assert.deepEqual(
    images.filter((image) => !/:v?\d+\.\d+\.\d+(-\d+)?$/.test(image) && image !== 'cni-gate'),
    [],
  );
});

test('the check finds a word that the specification does not have', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'docker-compose.yml');
  writeFileSync(file, text.replace('read_only:', 'readonly:'));
  const { status, stderr } = load(file);
  assert.notEqual(status, 0);
  assert.match(stderr, /readonly/);
});
