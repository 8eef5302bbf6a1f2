/**
 * `npm run bench:scale [-- NODES …]`: what `cni-gate serve` needs in clusters of many nodes with three DaemonSets each.
 * It prints the resident memory when everything is known, and the time until then. The arguments in CNI_GATE_BENCH_NODE
 * go to Node, such as `--max-semi-space-size=2`. The cluster is an API server of our own: see `scale/api.ts`.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [5, 100, 1000, 5000, 15_000];
const nodeArguments = (process.env.CNI_GATE_BENCH_NODE ?? '').split(' ').filter((one) => one !== '');
const main = new URL('../../dist/webhook/main.js', import.meta.url).pathname;
/** After everything is known: what V8 gives back comes a moment later. */
const settle = 5000;

interface Figures {
  /** Seconds from the start of the process until it is ready. */
  synced: number;
  /** Of processor time until then. */
  processor: number;
  /** Resident MiB. */
  memory: number;
  peak: number;
}

async function measure(nodes: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const api = fork(new URL('./scale/api.ts', import.meta.url), [String(nodes)], { stdio: 'inherit' });
  try {
    const [{ port, ca, certificate, key }] = await once(api, 'message');
    const files = { ca, certificate, key, kubeconfig: kubeconfigOf(port, ca) };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return await serveIn(folder);
  } finally {
    api.disconnect();
    rmSync(folder, { recursive: true });
  }
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

async function serveIn(folder: string): Promise<Figures> {
  const file = (name: string): string => join(folder, name);
  const flags = [
    '--kubeconfig',
    file('kubeconfig'),
    '--tls-cert',
    file('certificate'),
    '--tls-key',
    file('key'),
  ];
  const ports = ['--host', '127.0.0.1', '--port', '0', '--ops-port', '0', '--drain-delay', '0s'];
  const begin = performance.now();
  const server = spawn(process.execPath, [...nodeArguments, main, 'serve', ...flags, ...ports], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let opsPort: number | undefined;
    for await (const line of createInterface(server.stdout)) {
      opsPort = JSON.parse(line).opsPort;
      if (opsPort !== undefined) break;
    }
    while (!(await isReady(opsPort))) await sleep(50);
    const synced = (performance.now() - begin) / 1000;
    const { processor } = vitals(server.pid);
    await sleep(settle);
    return { synced, ...vitals(server.pid), processor };
  } finally {
    server.kill('SIGKILL');
  }
}

const isReady = (port: number | undefined): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Memory in MiB, and seconds of processor time, by the kernel's count. */
function vitals(pid: number | undefined): Omit<Figures, 'synced'> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const line = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  // fields 14 and 15, in hundredths: proc_pid_stat(5)
  const [, , ...fields] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(')')[1] ?? '').split(' ');
  const processor = (Number(fields[10]) + Number(fields[11])) / 100;
  return { memory: line('VmRSS'), peak: line('VmHWM'), processor };
}

console.log(
  `Node ${process.version} ${nodeArguments.join(' ')}, ${cpus().length} cores (${cpus()[0]?.model}); ratios to the first row`,
);
let first: Figures | undefined;
for (const nodes of sizes) {
  const figures = await measure(nodes);
  first ??= figures;
  const { synced, processor, memory, peak } = figures;
  console.log(
    `${String(nodes).padStart(6)} nodes × 3 DaemonSets   ready in ${synced.toFixed(1)} s (${processor.toFixed(1)} s of processor time)   memory ${memory.toFixed(0)} MiB (${(memory / first.memory).toFixed(2)})   peak ${peak.toFixed(0)} MiB (${(peak / first.peak).toFixed(2)})`,
  );
}
