import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { type Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { main } from './command.ts';
import { exchange } from './exchange.ts';

const smallMachine = fileURLToPath(new URL('./small-machine.ts', import.meta.url));

export interface SmallServer {
  port: number;
  opsPort: number;
  ca: string;
  /** Makes an ordinary call, over a new connection unless an agent is given. */
  call(path: string, body: string | Buffer, agent?: Agent | false): Promise<{ status: number; body: string }>;
  metrics(): Promise<string>;
  /** The highest memory use of the process so far, in MiB. */
  peak(): number;
  alive(): boolean;
}

/** Starts `cni-gate serve` with the heap for a container of 512 MiB. @param program by default the sources */
export async function startSmallServer(t: TestContext, program = main): Promise<SmallServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const authority = join(folder, 'ca.crt');
  const ports = ['--host', '127.0.0.1', '--port', '0', '--ops-port', '0', '--drain-delay', '0s'];
  const child = spawn(
    process.execPath,
    [
      ...['--max-old-space-size=256', '--import', smallMachine, program],
      ...['serve', '--profile', 'cilium', '--tls-ca-out', authority, ...ports],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  let reported: { port: number; opsPort: number } | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port, opsPort } = JSON.parse(line);
    if (msg !== 'serving admission reviews') continue;
    reported = { port, opsPort };
    break;
  }
  if (!reported) throw new Error('the server ended');
  child.stdout.resume();
  const { port, opsPort } = reported;
  const ca = readFileSync(authority, 'utf8');
  return {
    port,
    opsPort,
    ca,
    call: (path, body, agent = false) =>
      exchange(
        request({
          host: '127.0.0.1',
          servername: 'localhost',
          port,
          path,
          method: 'POST',
          ca,
          agent,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        }),
        body,
      ),
    metrics: async () =>
      (await exchange(httpRequest({ host: '127.0.0.1', port: opsPort, path: '/metrics', agent: false }), ''))
        .body,
    peak: () =>
      Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    alive: () => child.exitCode === null && child.signalCode === null,
  };
}
