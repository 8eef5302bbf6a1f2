/** The process of the ordinary callers: see direct-innocents.ts. */
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../../support/exchange.ts';
import { recorded } from '../../support/reviews.ts';
import type { Endpoint, Innocents, Schedule } from './direct-innocents.ts';

/** An admission call, with the `timeoutSeconds` of the manifests. */
interface Call {
  path: '/mutate' | '/gate';
  body: string;
  timeout: number;
  /** Returns what is wrong with an answer, or undefined if the answer is right. */
  wrong: (response: { allowed: boolean; patch?: string; status?: { message: string } }) => string | undefined;
}

const binding = (node: string): string => {
  const review = recorded('binding-deployment-web');
  Object.assign(review.request.object, { target: { kind: 'Node', name: node } });
  return JSON.stringify(review);
};

const calls: Call[] = [
  {
    path: '/mutate',
    body: JSON.stringify(recorded('pod-deployment-web')),
    timeout: 10_000,
    wrong: ({ allowed, patch }) => (allowed && patch ? undefined : 'the pod got no proof'),
  },
  {
    path: '/gate',
    body: binding('n2'),
    timeout: 3000,
    wrong: ({ allowed }) => (allowed ? undefined : 'a binding to a node that is ready was refused'),
  },
  {
    path: '/gate',
    body: binding('n1'),
    timeout: 3000,
    wrong: ({ allowed }) => (allowed ? 'a binding to a node that is not ready was allowed' : undefined),
  },
];

process.once('message', async ({ endpoint, schedule }: { endpoint: Endpoint; schedule: Schedule }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const result = await innocents(schedule, (index, retried) => {
    const call = calls[index % calls.length] as Call;
    // one in ten calls opens a new connection, as an API server does after 90 s without a call or when it has restarted
    return create(endpoint, call, index % 10 === 0 ? false : agent, retried);
  });
  agent.destroy();
  process.send?.(result, () => process.disconnect());
});

/** Begins ordinary creations of pods at even intervals, without waiting for earlier ones to end. */
async function innocents(
  { count, over }: Schedule,
  create: (index: number, retried: () => void) => Promise<void>,
): Promise<Innocents> {
  const result: Innocents = { count, failed: [], took: [], retries: 0 };
  const begun = performance.now();
  const retried = (): void => {
    result.retries++;
  };
  const one = async (index: number): Promise<void> => {
    await sleep(Math.max(0, begun + (over * index) / count - performance.now()));
    const start = performance.now();
    try {
      await create(index, retried);
    } catch (error) {
      result.failed.push(error instanceof Error ? error.message : String(error));
    }
    result.took.push(performance.now() - start);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  return result;
}

/** Makes one call as client-go does: it repeats the call after a 429 with `Retry-After` (rest/with_retry.go). */
async function create(
  { host, port, ca }: Endpoint,
  call: Call,
  agent: Agent | false,
  retried: () => void,
): Promise<void> {
  const signal = AbortSignal.timeout(call.timeout);
  const prefix = `${call.path}: `;
  const to = {
    ...{ host, port, ca, servername: 'localhost', path: `${call.path}?timeout=${call.timeout / 1000}s` },
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(call.body) },
  };
  for (let tries = 1; ; tries++) {
    const sent = exchange(request({ ...to, method: 'POST', agent, signal }), call.body);
    const { status, headers, body } = await sent.catch((error: unknown) => {
      throw new Error(prefix + (signal.aborted ? `no answer in ${call.timeout} ms` : error));
    });
    const after = headers['retry-after'];
    if (status === 200) {
      const wrong = call.wrong(JSON.parse(body).response);
      if (wrong !== undefined) throw new Error(`${prefix}${wrong}: ${body}`);
      return;
    }
    if (status !== 429 || after === undefined || tries > 10) throw new Error(`${prefix}${status} ${body}`);
    retried();
    await sleep(Number(after) * 1000, undefined, { signal }).catch(() => {
      throw new Error(`${prefix}got 429 until ${call.timeout} ms were over`);
    });
  }
}
