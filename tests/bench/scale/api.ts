/**
 * An API server in a process of its own that has many nodes and their DaemonSets' pods, and some pods that wait for a
 * node. It makes each object when it is asked for. Lists come in pages, and watches end when the client asked for it, as
 * with the real one. Its parent tells it which events to send.
 */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { agent, daemonSet, daemonSets, namespaces, node, placed, unscheduled, waiting } from './objects.ts';

/** Events per second that arrive steadily, or as many as the client reads. */
export interface SendEvents {
  perSecond: number | 'as fast as they are read';
  seconds: number;
  /** The number of the first pod, and of the one after the last. */
  pods: [number, number];
}

/** What was sent. */
export interface SentEvents {
  events: number;
  /** How long it took. */
  seconds: number;
  /** The number of the pod after the last that was sent. */
  next: number;
}

const [count = 0, sets = 0] = process.argv.slice(2).map(Number);
const now = new Date();
const authority = createAuthority({ days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });

interface Found {
  size: number;
  at: (index: number) => object;
}

const nothing: Found = { size: 0, at: () => ({}) };

/** The objects behind a path. */
function find({ pathname, searchParams: query }: URL): Found {
  if (pathname === '/api/v1/nodes') return { size: count, at: node };
  if (pathname === '/api/v1/namespaces') return namespaces;
  if (pathname === '/api/v1/pods' && query.get('fieldSelector') === 'spec.nodeName=') {
    return { size: unscheduled, at: (index) => waiting(index, sets) };
  }
  const [, namespace, resource] = /\/namespaces\/([^/]+)\/(pods|daemonsets)$/.exec(pathname) ?? [];
  const which = daemonSets
    .slice(0, sets)
    .findIndex(
      (one) =>
        one.namespace === namespace &&
        (resource === 'pods' || query.get('fieldSelector') === `metadata.name=${one.name}`),
    );
  if (which < 0) return nothing;
  return resource === 'pods'
    ? { size: count, at: (index) => agent(which, index) }
    : { size: 1, at: () => daemonSet(which) };
}

async function list(url: URL, response: ServerResponse): Promise<void> {
  const { size, at } = find(url);
  const from = Number(url.searchParams.get('continue') ?? 0);
  const to = Math.min(size, from + Number(url.searchParams.get('limit') ?? size));
  const metadata = { resourceVersion: '9000000', ...(to < size && { continue: String(to) }) };
  response.write(`{"kind":"List","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`);
  for (let index = from; index < to; index++) {
    const isRoom = response.write(`${index > from ? ',' : ''}${JSON.stringify(at(index))}`);
    if (!isRoom) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(']}');
}

/** The open watches by what they watch: nodes, or pods on nodes. */
const watches = new Map<string, ServerResponse>();

function watch(url: URL, response: ServerResponse): void {
  const { pathname, searchParams: query } = url;
  const isOfPods = pathname === '/api/v1/pods' && query.get('fieldSelector') === 'spec.nodeName!=';
  if (isOfPods || pathname === '/api/v1/nodes') {
    watches.set(pathname, response);
    response.once('close', () => {
      if (watches.get(pathname) === response) watches.delete(pathname);
    });
  }
  const timer = setTimeout(
    () => {
      if (watches.get(pathname) === response) watches.delete(pathname);
      response.end();
    },
    Number(query.get('timeoutSeconds')) * 1000,
  );
  response.once('close', () => clearTimeout(timer));
  response.flushHeaders();
}

let version = 9_000_000;

/** Sends an event to who watches. @returns whether there is a watch, when they have room for another */
async function tell(path: string, type: string, object: object): Promise<boolean> {
  const response = watches.get(path);
  if (response === undefined) return false;
  version += 1;
  const { metadata, ...rest } = object as { metadata: object };
  const updated = { metadata: { ...metadata, resourceVersion: String(version) }, ...rest };
  if (response.write(`${JSON.stringify({ type, object: updated })}\n`)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
  return true;
}

/** Every tenth event is a node's: a kubelet writes its status. The others are pods that have just passed. */
async function send({ perSecond, seconds, pods: [from, to] }: SendEvents): Promise<SentEvents> {
  const begin = performance.now();
  const took = (): number => (performance.now() - begin) / 1000;
  const isDue = (events: number): boolean => typeof perSecond !== 'number' || events <= took() * perSecond;
  let [events, next] = [0, from];
  while (took() < seconds && next < to) {
    const isNode = events % 10 === 9;
    const isSent =
      isDue(events) &&
      (isNode
        ? await tell('/api/v1/nodes', 'MODIFIED', node(events % count))
        : await tell('/api/v1/pods', 'ADDED', placed(next, count, sets)));
    if (!isSent) {
      await sleep(5);
      continue;
    }
    events += 1;
    if (!isNode) next += 1;
  }
  return { events, seconds: took(), next };
}

const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
  const url = new URL(request.url ?? '/', 'https://localhost');
  response.setHeader('content-type', 'application/json');
  if (request.method !== 'GET' || /\/(leases|events|secrets)(\/|$)/.test(url.pathname)) {
    response.statusCode = 403;
    response.end('{"kind":"Status","status":"Failure","code":403,"reason":"Forbidden"}');
  } else if (url.searchParams.get('watch') === 'true') watch(url, response);
  else void list(url, response);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.send?.({ port, ca: authority.certificate, certificate: pair.certificate, key: pair.key });
});
process
  .on('message', (order) => void send(order as SendEvents).then((sent) => process.send?.(sent)))
  .on('disconnect', () => process.exit());
