/** Runs the server as the image does: the bundle, with the Dockerfile's arguments for Node. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { imageFlags } from '../../support/command.ts';
import { usageOf } from '../load.ts';

const checkout = new URL('../../../', import.meta.url);

export interface Server {
  process: ChildProcess;
  port: number;
  opsPort: number;
  /** Seconds from the start of the process until the server was ready. */
  ready: number;
  vitals(): ReturnType<typeof usageOf>;
}

export interface ApiServer {
  port: number;
  ca: string;
  certificate: string;
  key: string;
}

/** A script that runs a command as in a pod. Arguments: a token's file, an authority's file, the command. */
const asPod = `
  folder=/var/run/secrets/kubernetes.io/serviceaccount
  mount -t tmpfs tmpfs /var/run && mkdir -p "$folder" && cp "$0" "$folder/token" && cp "$1" "$folder/ca.crt" &&
    shift && exec "$@"`;

/** Starts the server next to an API server and waits until it is ready. @param folder for the server's files */
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
    ...['--tls-cert', file('certificate', certificate), '--tls-key', file('key', key)],
    ...['--host', '127.0.0.1', '--port', '0', '--ops-port', '0', '--drain-delay', '0s'],
    // logs a line for each decision, as in production
    ...['--log-level', 'info'],
  ];
  const begin = performance.now();
  const command = [process.execPath, ...imageFlags, main, 'serve', ...flags];
  const [token, authority] = [file('token', 'x'), file('ca.crt', ca)];
  const server = spawn(
    'unshare',
    ['--map-root-user', '--mount', 'sh', '-c', asPod, token, authority, ...command],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, KUBERNETES_SERVICE_HOST: 'localhost', KUBERNETES_SERVICE_PORT: String(port) },
    },
  );
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

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
