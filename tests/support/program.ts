import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { main } from './command.ts';
import { type Answer, exchange } from './exchange.ts';

/** Starts `cni-gate serve` as a process that writes its authority to a file. @param program by default the sources */
export async function startProgram(
  t: TestContext,
  program = main,
): Promise<{ child: ChildProcess; call(body: object): Promise<Answer> }> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const authority = join(folder, 'ca.crt');
  const ports = ['--host', '127.0.0.1', '--port', '0', '--ops-port', '0', '--drain-delay', '0s'];
  const args = [program, 'serve', '--profile', 'cilium', '--tls-ca-out', authority, ...ports];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  let port: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const reported = JSON.parse(line);
    if (reported.msg !== 'serving admission reviews') continue;
    port = reported.port;
    break;
  }
  child.stdout.resume();
  const ca = readFileSync(authority);
  const to = { host: '127.0.0.1', servername: 'localhost', port, ca, agent: false, path: '/mutate' };
  const headers = { 'content-type': 'application/json' };
  return {
    child,
    call: (body) => exchange(request({ ...to, method: 'POST', headers }), JSON.stringify(body)),
  };
}
