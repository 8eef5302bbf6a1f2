/**
 * `npm run bench peers [-- --report PAGE]`: admissions for each second of processor time and peak memory, of cni-gate as its
 * image runs it, of a webhook on controller-runtime that makes the same change (`peers/`, built with Go), and of a bare
 * `node:https`. All get the same review in turns.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { run } from '../support/run.ts';
import { patchLength } from './bare.ts';
import { connections, patchFrom, type Target, usageOf } from './load.ts';
import type { Row } from './report/figures.ts';
import { benchArguments, report } from './report/report.ts';
import { nodeArguments } from './scale/server.ts';
import { inTurns, type Rounds, ratio, rounds, serverRows, warmUp } from './turns.ts';

benchArguments([]);
/** Of one server in one round. The kernel counts its processor time in hundredths. */
const seconds = 2;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const body = readFileSync(new URL('../reviews/pod-statefulset-db.json', import.meta.url), 'utf8');

/** Built by `tests/bench/run.sh`. */
const program = here('../../node_modules/.cache/cni-gate-peer');
const bundle = here('../../dist/webhook/main.js');

const now = new Date();
const authority = createAuthority({ commonName: 'bench', days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });
const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
const file = (name: string): string => join(folder, name);

async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .on('connect', () => {
        socket.destroy();
        resolve(true);
      })
      .on('error', () => resolve(false));
  });

interface Peer extends Target {
  child: ChildProcess;
}

/** Starts a server whose arguments depend on its port. @throws Error where it ends before it accepts connections */
async function start(
  command: (port: number) => [string, ...string[]],
  env: Record<string, string> = {},
): Promise<Peer> {
  const port = await freePort();
  const [program, ...args] = command(port);
  const child = spawn(program, args, {
    // each logs as in production, to nowhere
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH, ...env },
  });
  const { pid } = child;
  while (!(await accepts(port))) {
    if (pid === undefined || child.exitCode !== null)
      throw new Error(`${program} ended with ${child.exitCode}`);
    await sleep(50);
  }
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections,
    ca: authority.certificate,
    servername: 'localhost',
  });
  return { child, port, agent, usage: async () => usageOf(pid) };
}

/** The version of controller-runtime that `peers/go.mod` names. */
const peerVersion = /controller-runtime (v\S+)/.exec(readFileSync(here('peers/go.mod'), 'utf8'))?.[1] ?? '';

/** cni-gate's change, as the webhook on controller-runtime reads it. It adds the token's mount itself. */
function changeOf(patch: { path: string; value: Record<string, unknown> }[]): object {
  const value = (path: string): Record<string, unknown> =>
    patch.find((operation) => operation.path === path)?.value ?? {};
  const [container] = value('/spec/initContainers') as unknown as object[];
  return {
    container: { ...container, volumeMounts: [] },
    labels: { [profileLabel]: value('/metadata/labels/cni-gate.io~1profile') },
    annotations: value('/metadata/annotations'),
  };
}

/** Without an init container the comparison would be none. */
async function checkAnswer(name: string, peer: Peer): Promise<void> {
  const patch = await patchFrom(peer, body);
  if (!patch.includes('initContainers')) throw new Error(`${name} adds no init container: ${patch}`);
}

/** All servers, by the names that the figures have. */
async function startAll(): Promise<Map<string, Peer>> {
  const node = (...args: string[]): [string, ...string[]] => [process.execPath, ...args];
  const flags = ['--profile', 'cilium.linkerd', '--ops-port', '0', '--host', '127.0.0.1'];
  const tls = ['--tls-cert', file('tls.crt'), '--tls-key', file('tls.key')];
  const ours = (port: number): [string, ...string[]] =>
    node(...nodeArguments, bundle, 'serve', ...flags, ...tls, '--port', String(port));
  const peer = (port: number): [string, ...string[]] => [program, String(port), folder];
  const gateServer = await start(ours);
  writeFileSync(file('change.json'), JSON.stringify(changeOf(JSON.parse(await patchFrom(gateServer, body)))));
  return new Map([
    [bare, await start((port) => node(here('peers/bare.ts'), String(port), folder, String(patchLength)))],
    [gate, gateServer],
    [single, await start(peer, { GOMAXPROCS: '1' })],
    [go, await start(peer)],
  ]);
}

const [bare, gate] = ['bare node:https', 'cni-gate'];
const [single, go] = ['controller-runtime, GOMAXPROCS=1', 'controller-runtime, GOMAXPROCS by default'];

function rowsOf(all: Rounds): Row[] {
  const conditions = `${(body.length / 1000).toFixed(0)} KB, ${connections} connections`;
  return [
    ...[single, go].map(
      (name): Row => ({
        figure: 'cni-gate: admissions per second of processor time',
        conditions: `beside ${name}`,
        measured: ratio(all, gate, name),
        unit: '× controller-runtime',
        aim: { atLeast: 5.5 },
      }),
    ),
    ...[gate, single, go].map(
      (name): Row => ({
        figure: 'admissions per second of processor time',
        conditions: name,
        measured: ratio(all, name, bare),
        unit: '× bare node:https',
        ...(name === gate && { aim: { atLeast: 0.75 } }),
      }),
    ),
    ...serverRows(all, conditions, `${conditions}, ${warmUp + rounds * seconds} s of load`),
  ];
}

let started = new Map<string, Peer>();
try {
  const version = (await run('go', ['env', 'GOVERSION'])).trim().replace(/^go/, '');
  writeFileSync(file('tls.crt'), pair.certificate);
  writeFileSync(file('tls.key'), pair.key);
  started = await startAll();
  for (const [name, peer] of started) if (name !== bare) await checkAnswer(name, peer);
  const all = await inTurns(started, body, seconds);
  report('peers', rowsOf(all), { Go: version, 'controller-runtime': peerVersion });
} finally {
  for (const { child, agent } of started.values()) {
    agent.destroy();
    child.kill('SIGKILL');
  }
  rmSync(folder, { recursive: true });
}
