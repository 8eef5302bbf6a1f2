import type { Cluster } from './cluster.ts';

/** Removes the history of etcd: older versions get 410 once the API server is restarted. */
export async function compact({ ports }: Cluster): Promise<string> {
  const { header } = await call(ports.etcd, 'range', { key: base64('\0') });
  await call(ports.etcd, 'compaction', { revision: header.revision, physical: true });
  return header.revision;
}

export type Content = Map<string, string>;

/** All objects that etcd holds, but those that API servers write again and again. */
export async function contentOf(port: number): Promise<Content> {
  // beside them is the API server's own record of its compactions
  const all = { key: base64('/registry/'), range_end: base64('/registry0') };
  const { kvs = [] } = await call(port, 'range', all);
  const stored = kvs.filter(({ key }) => !renewed.test(Buffer.from(key, 'base64').toString()));
  return new Map(stored.map(({ key, value }) => [key, value]));
}

/** Leases of API servers, and events, which tell of what is gone. */
const renewed = /^\/registry\/(leases\/kube-system\/apiserver-|events\/)/;

/** Operations in one transaction of etcd, at most (`--max-txn-ops`). */
const most = 128;

/** Restores the content. The API server sees the changes, without finalizers and admission. */
export async function restore(port: number, content: Content): Promise<number> {
  const now = await contentOf(port);
  const gone = [...now.keys()].filter((key) => !content.has(key));
  const changed = [...content].filter(([key, value]) => now.get(key) !== value);
  const operations = [
    ...gone.map((key) => ({ request_delete_range: { key } })),
    ...changed.map(([key, value]) => ({ request_put: { key, value } })),
  ];
  for (let at = 0; at < operations.length; at += most) {
    await call(port, 'txn', { success: operations.slice(at, at + most) });
  }
  return operations.length;
}

interface Answer {
  header: { revision: string };
  kvs?: { key: string; value: string }[];
}

/** etcd's API as JSON (etcd.io, gRPC gateway). */
async function call(port: number, what: string, body: object): Promise<Answer> {
  const url = `http://127.0.0.1:${port}/v3/kv/${what}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: ${what}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
