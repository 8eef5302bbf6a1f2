import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inside } from './namespaces.ts';
import type { Sandbox } from './sandbox.ts';

const listener = fileURLToPath(new URL('./listener.ts', import.meta.url));
const nameServer = fileURLToPath(new URL('./name-server.ts', import.meta.url));

export interface Listening {
  host: string;
  tcp: number[];
  udp?: number[];
  /**
   * `silent` reads and sends nothing, `close` closes immediately, `banner` sends first, `echo` returns what it
   * receives. A number is a port of the caller: the listener connects back to it, and joins the two connections.
   */
  manner: 'silent' | 'close' | 'banner' | 'echo' | number;
}

export function listen(sandbox: Sandbox, where: 'pod' | 'node', listening: Listening): Promise<void> {
  return keepRunning(sandbox, where, listener, listening);
}

export interface Naming {
  host: string;
  address: string;
  /** The response code for queries that do not ask for an IPv4 address: RFC 1035, 4.1.1. */
  codeForOthers?: number;
}

export function serveNames(sandbox: Sandbox, what: Naming): Promise<void> {
  return keepRunning(sandbox, 'node', nameServer, what);
}

async function keepRunning(
  sandbox: Sandbox,
  where: 'pod' | 'node',
  program: string,
  argument: object,
): Promise<void> {
  const [command, args] = inside(sandbox[where], process.execPath, program, JSON.stringify(argument));
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  sandbox.onRemoval(async () => {
    child.stdin.end();
    await closed;
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('close', () => reject(new Error(`it did not start: ${errors}`)));
  });
}
