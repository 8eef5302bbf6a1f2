import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { durationsOf } from './durations.ts';
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
    const before = await durationsOf(server.opsPort);
    const begin = performance.now();
    for (let index = 0; index < seconds * perSecond; index++) {
      await sleep(Math.max(0, begin + (index * 1000) / perSecond - performance.now()));
      const started = performance.now();
      await call(agent, server, bodyOf(index * 37, nodes, sets));
      calls.push((performance.now() - started) * 1000);
    }
    const decisions = (await durationsOf(server.opsPort)).since(before);
    const sorted = calls.toSorted((one, other) => one - other);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    return {
      decision: { p50: decisions.at(0.5) * 1e6, p99: decisions.at(0.99) * 1e6 },
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
