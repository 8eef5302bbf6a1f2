import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { mortal } from '../../support/mortal.ts';

const own = fileURLToPath(new URL('../../../', import.meta.url));

/** How `cni-gate serve` is run. */
export interface ServerOptions {
  /** Flags after `serve`. Ports are 0 unless they say another. */
  args: string[];
  /** Address to listen on: one of 10.254.0.0/16, or that of a pod which it stands for. */
  host: string;
  /** Environment beside PATH. */
  environment?: Record<string, string>;
  /** Another checkout than this, with its packages installed. */
  checkout?: string | undefined;
}

/** A running `cni-gate serve`, from the sources. */
export interface GateServer {
  host: string;
  port: number;
  opsPort: number;
  /** Of its process. */
  pid: number | undefined;
  /** Every line that it logged, parsed. */
  lines: Record<string, unknown>[];
  /** Sends a signal and waits for the end; the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `cni-gate serve` as a process of its own, and waits until it serves.
 *
 * @throws Error with what it wrote where it ends before that
 */
export async function startServer({
  args,
  host,
  environment = {},
  checkout = own,
}: ServerOptions): Promise<GateServer> {
  // the API server keeps its idle connections for 90 s: the end of a test does not wait for them
  const drain = ['--drain-delay', '0s', '--drain-timeout', '1s'];
  const flags = ['serve', '--host', host, '--port', '0', '--ops-port', '0', ...drain, ...args];
  const child = spawn(...mortal(process.execPath, [join(checkout, 'webhook/main.ts'), ...flags]), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...environment },
  });
  const lines: Record<string, unknown>[] = [];
  const { port, opsPort } = await serving(child, lines);
  return {
    host,
    port,
    opsPort,
    pid: child.pid,
    lines,
    end: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      }
      return child.exitCode;
    },
  };
}

function serving(
  child: ChildProcess,
  lines: Record<string, unknown>[],
): Promise<{ port: number; opsPort: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ port: number; opsPort: number }>();
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  if (child.stdout) {
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text);
      lines.push(line);
      if (line.msg === 'serving admission reviews') resolve({ port: line.port, opsPort: line.opsPort });
    });
  }
  child.on('error', reject);
  child.on('close', (code) => {
    reject(new Error(`cni-gate serve ended with ${code}:\n${errors}\n${JSON.stringify(lines, null, 2)}`));
  });
  return promise;
}
