import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { env } from '../../validator/shared/contract.ts';
import { validator } from './harness/proof.ts';

/* The program at rest, with listeners that it gets from this test as if it had opened them. */

/** A recheck of the machine's own network fails, because it does not have this address. */
const environment = {
  [env.checks]: JSON.stringify([
    { profile: 'a', address: { timeout: '400ms' } },
    { profile: 'a', witness: { port: 14_040, timeout: '400ms' } },
  ]),
  [env.podIPs]: '192.0.2.77',
  [env.continuous]: JSON.stringify({ interval: '1h', failures: 3 }),
};

async function listener(): Promise<{ server: Server; fd: number; port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  return { server, fd, port: (server.address() as AddressInfo).port };
}

let running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running = [];
});

/** Starts the program at rest. Its listeners have the descriptors from 3 upwards. */
async function resting(fds: number[], listeners: string, milliseconds: number, next: string[] = []) {
  const args = ['wait-for-signal', listeners, String(milliseconds), ...next];
  const child = spawn(validator, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe', ...fds] });
  running.push(child);
  await sleep(300);
  return child;
}

/** Whether a connection is accepted and closed by the other end. */
async function isClosed(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').resume();
  const ended = Promise.race([once(socket, 'end').then(() => true), sleep(1000, false)]);
  await once(socket, 'connect');
  const result = await ended;
  socket.destroy();
  return result;
}

const commandOf = ({ pid }: ChildProcess): string[] =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1, -1);

test('the program at rest accepts and closes connections at each listener, before and after a recheck', async () => {
  const [one, other] = [await listener(), await listener()];
  const next = ['recheck', '0', '3', '4'];
  const child = await resting([one.fd, other.fd], '3,4', 1500, next);
  for (const { server } of [one, other]) server.close();
  const atFirst = commandOf(child);
  const open = (): string[] => readdirSync(`/proc/${child.pid}/fd`);
  const before = open();
  assert.deepEqual(atFirst, ['wait-for-signal', '3,4', '1500', ...next]);
  for (let count = 0; count < 3; count++)
    for (const { port } of [one, other]) assert.ok(await isClosed(port), `${port}`);
  assert.deepEqual(commandOf(child), atFirst, 'a recheck began too early');
  await sleep(2000);
  const [wait, fds, time, ...after] = commandOf(child);
  assert.deepEqual([wait, fds, after], ['wait-for-signal', '3,4', ['recheck', '1', '3', '4']]);
  assert.ok(Number(time) > 3_590_000 && Number(time) < 3_600_000, time);
  for (const { port } of [one, other]) assert.ok(await isClosed(port), `${port}`);
  assert.deepEqual(open(), before, 'the open descriptors changed');
  child.kill();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a log that nobody reads stops neither a recheck nor the end', async () => {
  const pipe = `/tmp/cni-gate-full-log-${process.pid}`;
  execFileSync('mkfifo', [pipe]);
  // the shell keeps the pipe open and never reads
  const script = `exec 9<>${pipe}; timeout 2 head -c 70000 /dev/zero >&9; exec "$0" "$@" >&9 2>&9`;
  const args = ['-c', script, validator, 'recheck', '0', '-1', '-1'];
  const child = spawn('sh', args, { env: { ...environment, PATH: process.env.PATH }, stdio: 'ignore' });
  running.push(child);
  await sleep(4500);
  assert.equal(commandOf(child)[0], 'wait-for-signal');
  assert.match(readFileSync(`/proc/${child.pid}/comm`, 'utf8'), /^cni-gate-valida$/m);
  child.kill();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  rmSync(pipe);
});

test('the program rests for the whole time, and not longer', async () => {
  const start = performance.now();
  const child = spawn(validator, ['wait-for-signal', '', '700', 'not-a-command'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[code]] = await Promise.all([once(child, 'exit'), once(child.stdout, 'data')]);
  const took = performance.now() - start;
  assert.equal(code, 64);
  assert.ok(took >= 700 && took < 3000, `${took}`);
});
