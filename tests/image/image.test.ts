import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { env } from '../../validator/contract.ts';
import { exitCode } from '../../validator/exit-codes.ts';
import { version } from '../../webhook/version.ts';
import { contained, needContainers, signal } from '../support/container/container.ts';
import { readStages } from './dockerfile.ts';
import { imageRoot } from './root.ts';

needContainers();
const scratch = mkdtempSync(join(tmpdir(), 'cni-gate-'));
after(() => rmSync(scratch, { recursive: true }));
const root = join(scratch, 'root');
await imageRoot(root);

const settings = readStages().at(-1)?.settings ?? new Map<string, string[]>();
const entrypoint = settings.get('ENTRYPOINT') ?? [];
const uid = Number(settings.get('USER')?.[0]?.split(':')[0]);

const container = (args: string[]): [string, string[]] => contained({ root, uid }, [...entrypoint, ...args]);

/** Runs the image to its end. Nothing of this machine's environment is handed on but where its tools are. */
function run(args: string[], variables: Record<string, string> = {}) {
  return spawnSync(...container(args), { encoding: 'utf8', env: { PATH: process.env.PATH, ...variables } });
}

test('the image says its version', () => {
  const { stdout, stderr, status } = run(['--version']);
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim(), version);
});

test('without arguments it says what it can do', () => {
  const { stdout, status } = run(settings.get('CMD') ?? []);
  assert.equal(status, 0);
  assert.match(stdout, /serve/);
});

test('the program of the init container runs, and tells wrong usage from a network that is not proved', () => {
  assert.equal(run(['validate']).status, exitCode.wrongUsage);
  const checks = JSON.stringify([{ profile: 'x', address: { timeout: '10ms' } }]);
  const { stdout, status } = run(['validate'], { [env.checks]: checks, [env.podIPs]: '203.0.113.9' });
  assert.equal(status, exitCode.failed, stdout);
  assert.match(stdout, /203\.0\.113\.9/);
});

test('the server serves, and drains when it is told to', async () => {
  const args = ['serve', '--profile', 'cilium', '--host', '127.0.0.1', '--port', '0', '--ops-port', '0'];
  const child = spawn(...container([...args, '--drain-delay', '0s']), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const { opsPort } = await serving(child);
  assert.equal((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status, 200);
  const ended = once(child, 'exit');
  signal(child, 'SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('nothing in it can be written', () => {
  const script =
    "try { require('fs').writeFileSync('/tmp/x', ''); } catch (error) { console.log(error.code); }";
  const node = entrypoint[0] ?? '';
  const { stdout } = spawnSync(...contained({ root, uid }, [node, '-e', script]), { encoding: 'utf8' });
  assert.equal(stdout.trim(), 'EROFS');
});

test('it runs as a number that is not root, as runAsNonRoot asks for', () => {
  assert.ok(uid > 0, `USER ${settings.get('USER')}`);
  const { stdout } = spawnSync(...contained({ root, uid }, [entrypoint[0] ?? '', '-p', 'process.getuid()']), {
    encoding: 'utf8',
  });
  assert.equal(Number(stdout), uid);
});

test('it holds no development dependency, and no file that Node never reads', () => {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
  );
  const forDevelopment = Object.entries(lock.packages).filter(([, { dev }]) => dev);
  assert.ok(forDevelopment.length > 0);
  assert.deepEqual(
    forDevelopment.map(([path]) => path).filter((path) => existsSync(join(root, 'app', path))),
    [],
  );
  const { stdout } = spawnSync('find', [join(root, 'app'), '-name', '*.map', '-o', '-name', '*.ts'], {
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});

async function serving(child: ChildProcess): Promise<{ opsPort: number }> {
  assert.ok(child.stdout);
  for await (const text of createInterface(child.stdout)) {
    const line = JSON.parse(text);
    if (line.msg === 'serving admission reviews') return line;
  }
  throw new Error('the server ended before it served');
}
