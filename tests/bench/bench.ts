/**
 * `npm run bench`: what a decision costs beside parsing its review, and what the server costs beside a bare one
 * that only parses and answers. Figures vary from run to run: compare the ratios.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { cpus } from 'node:os';
import { decodePodRequest } from '../../webhook/admission/decode.ts';
import { defaultConfiguration } from '../../webhook/config/load.ts';
import { Policy } from '../../webhook/config/policy.ts';
import { admit } from '../../webhook/inject/mutate.ts';
import { gateBench } from './gate.ts';
import { repairBench } from './repair.ts';

const body = readFileSync(new URL('../reviews/pod-statefulset-db.json', import.meta.url), 'utf8');
const connections = 20;
const rounds = 3;
const seconds = 2;

/** Microseconds per call, the median of several batches. */
function time(call: () => void): number {
  const batch = 2000;
  for (let warm = 0; warm < batch; warm++) call();
  const figures = Array.from({ length: 9 }, () => {
    const start = process.hrtime.bigint();
    for (let index = 0; index < batch; index++) call();
    return Number(process.hrtime.bigint() - start) / 1000 / batch;
  });
  return figures.toSorted((a, b) => a - b)[4] ?? Number.NaN;
}

function decisions(): void {
  const policy = new Policy(defaultConfiguration());
  const namespace = { labels: { 'cni-gate.io/profile': 'cilium.linkerd' } };
  const parse = time(() => JSON.parse(body));
  const whole = time(() => {
    const { review } = admit(decodePodRequest(JSON.parse(body)), { policy, namespace });
    JSON.stringify(review);
  });
  console.log(`parse a review of ${body.length} bytes           ${parse.toFixed(1)} us   1.00`);
  console.log(
    `parse, decide, apply the patch, answer   ${whole.toFixed(1)} us   ${(whole / parse).toFixed(2)}`,
  );
}

interface Started {
  child: ChildProcess;
  port: number;
  agent: Agent;
}

async function start(kind: string): Promise<Started> {
  const child = fork(new URL('./server-child.ts', import.meta.url), [kind], { stdio: 'inherit' });
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

/** Requests per second over keep-alive connections, and how long the slowest percent took, in milliseconds. */
async function load(server: Started): Promise<{ rate: number; p99: number }> {
  const took: number[] = [];
  const end = Date.now() + seconds * 1000;
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
  const sorted = took.toSorted((a, b) => a - b);
  return { rate: took.length / seconds, p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN };
}

async function servers(): Promise<void> {
  const bare = await start('bare');
  const ours = await start('cni-gate');
  try {
    await load(bare);
    await load(ours);
    for (let round = 1; round <= rounds; round++) {
      const base = await load(bare);
      const gate = await load(ours);
      console.log(
        `round ${round}: bare https ${base.rate.toFixed(0)}/s p99 ${base.p99.toFixed(1)} ms   cni-gate ${gate.rate.toFixed(0)}/s p99 ${gate.p99.toFixed(1)} ms   rate ${(gate.rate / base.rate).toFixed(2)}`,
      );
    }
  } finally {
    for (const { child, agent } of [bare, ours]) {
      agent.destroy();
      child.kill();
    }
  }
}

console.log(
  `Node ${process.version}, ${cpus().length} cores, ${connections} keep-alive connections, ${seconds} s a round`,
);
decisions();
gateBench();
repairBench();
await servers();
