import { spawn } from 'node:child_process';
import { main } from '../../support/command.ts';
import { mortal } from '../../support/mortal.ts';
import { LoggingProcess } from './process.ts';

export interface GateServer {
  host: string;
  port: number;
  opsPort: number;
  pid: number | undefined;
  lines: Record<string, unknown>[];
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** @param args flags after `serve` @param host address to listen on, such as one of 10.254.0.0/16 */
export async function startServer(options: { args: string[]; host: string }): Promise<GateServer> {
  const { args, host } = options;
  // short limits, so that the end of a test does not wait for idle connections, which the API server keeps for 90 s
  const drain = ['--drain-delay', '0s', '--drain-timeout', '1s'];
  const flags = ['serve', '--host', host, '--port', '0', '--ops-port', '0', ...drain, ...args];
  const child = spawn(...mortal(process.execPath, [main, ...flags]), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  const server = new LoggingProcess(child);
  const ports = await server.serving();
  return { host, ...ports, pid: child.pid, lines: server.lines, end: (signal) => server.end(signal) };
}
