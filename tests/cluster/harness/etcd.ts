import type { Cluster } from './cluster.ts';

/** Removes etcd's history: after a restart, the API server answers 410 to a watch from an older resource version. */
export async function compact({ ports }: Cluster): Promise<string> {
  const { header } = await call(ports.etcd, 'range', { key: base64('\0') });
  await call(ports.etcd, 'compaction', { revision: header.revision, physical: true });
  return header.revision;
}

export type Content = Map<string, string>;

/** All objects that etcd holds, except those that API servers update all the time. */
export async function contentOf(port: number): Promise<Content> {
  // the range leaves out the API server's record of compactions, whose key is not below /registry/
  const all = { key: base64('/registry/'), range_end: base64('/registry0') };
  const { kvs = [] } = await call(port, 'range', all);
  const stored = kvs.filter(({ key }) => !renewed.test(Buffer.from(key, 'base64').toString()));
  return new Map(stored.map(({ key, value }) => [key, value]));
}

/** Keys of API servers' leases, and of events, which may be about deleted objects. */
const renewed = /^\/registry\/(leases\/kube-system\/apiserver-|events\/)/;

/** etcd's limit of operations per transaction (`--max-txn-ops`). */
const most = 128;

/** Restores the content. The API server sees the changes, but runs neither finalizers nor admission for them. */
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

/** Calls etcd's JSON API (etcd.io, gRPC gateway). */
async function call(port: number, what: string, body: object): Promise<Answer> {
  const url = `http://127.0.0.1:${port}/v3/kv/${what}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: ${what}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
