/** The server as the image runs it: the bundle, with the arguments that the Dockerfile gives to Node. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const checkout = new URL('../../../', import.meta.url);
const dockerfile = readFileSync(new URL('Dockerfile', checkout), 'utf8');

/** What the image starts Node with. The arguments in CNI_GATE_BENCH_NODE replace it. */
export const nodeArguments: string[] =
  process.env.CNI_GATE_BENCH_NODE?.split(' ').filter((one) => one !== '') ??
  JSON.parse(/^ENTRYPOINT (\[.*\/node".*\])$/m.exec(dockerfile)?.[1] ?? '[]').slice(1, -1);

/** What a process has taken, by the kernel's count. */
export interface Vitals {
  /** Resident memory now and at most, in MiB. */
  memory: number;
  peak: number;
  /** Seconds of processor time. */
  processor: number;
}

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
  const main = new URL(process.env.CNI_GATE_BENCH_MAIN ?? 'dist/webhook/main.js', checkout).pathname;
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
  return { process: server, ...ports, ready, vitals: () => vitalsOf(server.pid) };
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

function vitalsOf(pid: number | undefined): Vitals {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const line = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  // fields 14 and 15, in hundredths: proc_pid_stat(5)
  const [, , ...fields] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(')')[1] ?? '').split(' ');
  const processor = (Number(fields[10]) + Number(fields[11])) / 100;
  return { memory: line('VmRSS'), peak: line('VmHWM'), processor };
}
