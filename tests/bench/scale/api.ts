/** A fake API server with many nodes, their DaemonSets' pods, and pending pods. Lists are paged. */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { agent, daemonSet, daemonSets, namespaces, node, unscheduled, waiting } from './objects.ts';

const [count = 0, sets = 0] = process.argv.slice(2).map(Number);
const now = new Date();
const authority = createAuthority({ days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });

interface Found {
  size: number;
  at: (index: number) => object;
}

const nothing: Found = { size: 0, at: () => ({}) };

/** The objects that are listed at a path. */
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

/** A watch without events, which ends after the client's `timeoutSeconds`. */
function watch({ searchParams: query }: URL, response: ServerResponse): void {
  const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds')) * 1000);
  response.once('close', () => clearTimeout(timer));
  response.flushHeaders();
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
process.on('disconnect', () => process.exit());
