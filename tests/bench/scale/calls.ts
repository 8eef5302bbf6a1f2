import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeName, unscheduled, waiting } from './objects.ts';
import type { Server } from './server.ts';

/** How long calls of the gate took, in microseconds. */
export interface Took {
  /** Between the call's body and its answer, by the server's histogram. */
  decision: { p50: number; p99: number };
  /** From the client and back. */
  call: { p50: number; p99: number };
}

const template = JSON.parse(
  readFileSync(new URL('../../reviews/binding-deployment-web.json', import.meta.url), 'utf8'),
);

/** Calls `/gate` as the API server does, over one connection, about bindings to all nodes in turn. */
export async function callGate(
  server: Server,
  { nodes, sets, perSecond, seconds }: { nodes: number; sets: number; perSecond: number; seconds: number },
): Promise<Took> {
  // its certificate is one for the bench
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const calls: number[] = [];
  try {
    // what runs first is compiled first
    for (let index = 0; index < 200; index++) await call(agent, server, bodyOf(index, nodes, sets));
    const before = await bucketsOf(server.opsPort);
    const begin = performance.now();
    for (let index = 0; index < seconds * perSecond; index++) {
      await sleep(Math.max(0, begin + (index * 1000) / perSecond - performance.now()));
      const started = performance.now();
      await call(agent, server, bodyOf(index * 37, nodes, sets));
      calls.push((performance.now() - started) * 1000);
    }
    const decisions = (await bucketsOf(server.opsPort)).map(
      ([bound, count], index): Bucket => [bound, count - (before[index]?.[1] ?? 0)],
    );
    const sorted = calls.toSorted((one, other) => one - other);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    return {
      decision: { p50: quantile(decisions, 0.5) * 1e6, p99: quantile(decisions, 0.99) * 1e6 },
      call: { p50: at(0.5), p99: at(0.99) },
    };
  } finally {
    agent.destroy();
  }
}

function bodyOf(index: number, nodes: number, sets: number): string {
  const { metadata } = waiting(index % unscheduled, sets) as {
    metadata: { name: string; namespace: string; uid: string };
  };
  const { name, namespace, uid } = metadata;
  const target = { kind: 'Node', name: nodeName(index % nodes) };
  const object = { ...template.request.object, metadata: { name, namespace, uid }, target };
  return JSON.stringify({ ...template, request: { ...template.request, name, namespace, object } });
}

/** @throws Error where the gate let the pod through for want of knowledge */
function call(agent: Agent, { port }: Server, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request({ agent, host: '127.0.0.1', port, path: '/gate', method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { response: answer } = JSON.parse(text);
          if (typeof answer?.allowed === 'boolean' && answer.warnings === undefined) resolve();
          else reject(new Error(`the gate answered ${text}`));
        });
    })
      .on('error', reject)
      .end(body);
  });
}

/** An upper bound in seconds, and how many decisions of the gate took no longer. */
type Bucket = [bound: number, count: number];

/** Of all decisions since the server's start. */
async function bucketsOf(opsPort: number): Promise<Bucket[]> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const buckets = text.matchAll(
    /^cni_gate_admission_duration_seconds_bucket\{le="(.+)",webhook="gate"\} (\d+)$/gm,
  );
  return [...buckets].map(([, bound, count]) => [
    bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
    Number(count),
  ]);
}

/** How long a share of them took at most, in seconds: evenly spread within its bucket, as Prometheus has it. */
function quantile(buckets: readonly Bucket[], share: number): number {
  const wanted = share * (buckets.at(-1)?.[1] ?? 0);
  let [low, fewer] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= wanted) return low + ((bound - low) * (wanted - fewer)) / (count - fewer);
    [low, fewer] = [bound, count];
  }
  return Number.NaN;
}
