/**
 * What the server costs beside a bare `node:https` that parses the body and answers as many bytes, and beside one that
 * does not parse it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import type { Usage } from './server-child.ts';

const connections = 20;
const rounds = 9;
const seconds = 1;
const warmUp = 4;

interface Started {
  child: ChildProcess;
  port: number;
  agent: Agent;
}

async function start(kind: string): Promise<Started> {
  const folder = process.env.CNI_GATE_CPU_PROF;
  const given = (process.env.CNI_GATE_BENCH_NODE ?? '').split(' ').filter((one) => one !== '');
  const child = fork(new URL('./server-child.ts', import.meta.url), [kind], {
    stdio: 'inherit',
    execArgv: [
      ...(folder === undefined
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${kind}.cpuprofile`]),
      ...(kind === 'cni-gate' ? given : []),
    ],
  });
  const { port, ca } = await new Promise<{ port: number; ca: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { port: number; ca: string }));
    child.once('exit', () => reject(new Error(`the ${kind} server ended`)));
  });
  return {
    child,
    port,
    agent: new Agent({ keepAlive: true, maxSockets: connections, ca, servername: 'localhost' }),
  };
}

async function usageOf({ child }: Started): Promise<Usage> {
  child.send('usage');
  const [usage] = await once(child, 'message');
  return usage as Usage;
}

interface Figures {
  /** Requests for each second of processor time that the server took. */
  rate: number;
  /** How long the slowest percent took, in milliseconds. */
  p99: number;
  /** The most resident memory so far, in MiB. */
  peak: number;
}

/** Sends one body over keep-alive connections. */
async function load(server: Started, body: string, duration = seconds): Promise<Figures> {
  const took: number[] = [];
  const before = await usageOf(server);
  const end = Date.now() + duration * 1000;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = performance.now();
      request(
        {
          agent: server.agent,
          host: '127.0.0.1',
          port: server.port,
          path: '/mutate?timeout=10s',
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        },
        (response) => {
          response.resume().on('end', () => {
            took.push(performance.now() - begin);
            if (response.statusCode === 200) resolve();
            else reject(new Error(`status ${response.statusCode}`));
          });
        },
      )
        .on('error', reject)
        .end(body);
    });
  const worker = async (): Promise<void> => {
    while (Date.now() < end) await one();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const after = await usageOf(server);
  const sorted = took.toSorted((a, b) => a - b);
  return {
    rate: took.length / (after.seconds - before.seconds),
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    peak: after.peak,
  };
}

/** Prints what the servers answer for each second of processor time. @param body of each request */
export async function servers(body: string): Promise<void> {
  const unparsed = await start('unparsed');
  const bare = await start('bare');
  const ours = await start('cni-gate');
  console.log(
    `${connections} keep-alive connections, ${seconds} s a round, reviews of ${body.length} bytes, rates for each second of processor time`,
  );
  try {
    // V8 compiles what runs often, which takes processor time of its own
    for (const server of [unparsed, bare, ours]) await load(server, body, warmUp);
    const besideBare: number[] = [];
    const besideUnparsed: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      const least = await load(unparsed, body);
      const base = await load(bare, body);
      const gate = await load(ours, body);
      besideBare.push(gate.rate / base.rate);
      besideUnparsed.push(gate.rate / least.rate);
      console.log(
        `round ${round}: bare https ${textOf(base)}   without parsing ${textOf(least)}   cni-gate ${textOf(gate)}   rate ${(gate.rate / base.rate).toFixed(2)}`,
      );
    }
    console.log(
      `median rate ${median(besideBare)}; beside one that does not parse ${median(besideUnparsed)}`,
    );
  } finally {
    for (const { child, agent } of [unparsed, bare, ours]) {
      agent.destroy();
      child.disconnect();
    }
  }
}

const median = (ratios: number[]): string =>
  ratios.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]?.toFixed(2) ?? 'unknown';

const textOf = ({ rate, p99, peak }: Figures): string =>
  `${rate.toFixed(0)}/s p99 ${p99.toFixed(1)} ms peak ${peak.toFixed(0)} MiB`;
