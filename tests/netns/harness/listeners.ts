import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inside } from './namespaces.ts';
import type { Sandbox } from './sandbox.ts';

const program = fileURLToPath(new URL('./listener.ts', import.meta.url));

/** What somebody listens on, and what a connection gets from it. */
export interface Listening {
  host: string;
  tcp: number[];
  udp?: number[];
  /** `silent` reads and says nothing, `banner` speaks first, `echo` sends back what it gets. */
  manner: 'silent' | 'banner' | 'echo';
}

/** Starts a program that listens in one of the sandbox's namespaces for as long as the sandbox lasts. */
export async function listen(sandbox: Sandbox, where: 'pod' | 'node', listening: Listening): Promise<void> {
  const [command, args] = inside(sandbox[where], process.execPath, program, JSON.stringify(listening));
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
    child.once('close', () => reject(new Error(`nobody listens: ${errors}`)));
  });
}
