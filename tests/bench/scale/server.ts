/** The server as the image runs it: the bundle, with the arguments that the Dockerfile gives to Node. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../load.ts';

const checkout = new URL('../../../', import.meta.url);
const dockerfile = readFileSync(new URL('Dockerfile', checkout), 'utf8');

/** What the image starts Node with. */
export const nodeArguments: string[] = JSON.parse(
  /^ENTRYPOINT (\[.*\/node".*\])$/m.exec(dockerfile)?.[1] ?? '[]',
).slice(1, -1);

/** What the server has taken so far. */
export type Vitals = ReturnType<typeof usageOf>;

/** A server that runs. */
export interface Server {
  process: ChildProcess;
  port: number;
  opsPort: number;
  /** Seconds from the start of the process until it was ready. */
  ready: number;
  vitals(): Vitals;
}

/** What the API server tells of itself. */
export interface ApiServer {
  port: number;
  ca: string;
  certificate: string;
  key: string;
}

/** Starts the server beside an API server and waits until it is ready. @param folder for its files */
export async function startServer(
  folder: string,
  { port, ca, certificate, key }: ApiServer,
): Promise<Server> {
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const main = new URL('dist/webhook/main.js', checkout).pathname;
  const flags = [
    ...['--kubeconfig', file('kubeconfig', kubeconfigOf(port, ca))],
    ...['--tls-cert', file('certificate', certificate), '--tls-key', file('key', key)],
    ...['--host', '127.0.0.1', '--port', '0', '--ops-port', '0', '--drain-delay', '0s'],
    // a decision for each call, as in production, that are not read
    ...['--log-level', 'info'],
  ];
  const begin = performance.now();
  const server = spawn(process.execPath, [...nodeArguments, main, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ports = await new Promise<{ port: number; opsPort: number }>((resolve, reject) => {
    server.once('exit', () => reject(new Error('the server ended')));
    createInterface(server.stdout).on('line', (line) => {
      if (line.includes('"opsPort"')) resolve(JSON.parse(line));
    });
  });
  while (!(await isReady(ports.opsPort))) await sleep(20);
  const ready = (performance.now() - begin) / 1000;
  return { process: server, ...ports, ready, vitals: () => usageOf(server.pid) };
}

const kubeconfigOf = (port: number, ca: string): string =>
  JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [
      {
        name: 'x',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'tls-server-name': 'localhost',
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'x', user: { token: 'x' } }],
  });

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
