import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { namespaceOf } from './objects.ts';
import type { Server, Vitals } from './server.ts';

const connections = 20;

/** What the server answered under full load. */
export interface Load {
  calls: number;
  /** Microseconds of processor time for each. */
  each: number;
  after: Vitals;
}

const review = JSON.parse(
  readFileSync(new URL('../../reviews/pod-statefulset-db.json', import.meta.url), 'utf8'),
);
const namespace = namespaceOf(0);
review.request.namespace = namespace;
review.request.object.metadata.namespace = namespace;
const body = JSON.stringify(review);

/** Sends reviews of one pod to `/mutate` over twenty connections, each the next as soon as the last is answered. */
export async function fullLoad(server: Server, seconds: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  const before = server.vitals();
  const end = performance.now() + seconds * 1000;
  let calls = 0;
  const worker = async (): Promise<void> => {
    for (; performance.now() < end; calls += 1) await call(agent, server.port);
  };
  try {
    await Promise.all(Array.from({ length: connections }, worker));
  } finally {
    agent.destroy();
  }
  const after = server.vitals();
  return { calls, each: ((after.processor - before.processor) * 1e6) / calls, after };
}

function call(agent: Agent, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request({ agent, host: '127.0.0.1', port, path: '/mutate', method: 'POST', headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`status ${response.statusCode}`));
      });
    })
      .on('error', reject)
      .end(body);
  });
}
