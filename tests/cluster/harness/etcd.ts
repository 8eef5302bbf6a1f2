import type { Cluster } from './cluster.ts';

/** Removes etcd's history: after a restart, the API server answers 410 to a watch from an older resource version. */
export async function compact({ ports }: Cluster): Promise<string> {
  const { header } = await call(ports.etcd, 'range', { key: base64('\0') });
  await call(ports.etcd, 'compaction', { revision: header.revision, physical: true });
  return header.revision;
}

interface Answer {
  header: { revision: string };
}

/** Calls etcd's JSON API (etcd.io, gRPC gateway). */
async function call(port: number, what: string, body: object): Promise<Answer> {
  const url = `http://127.0.0.1:${port}/v3/kv/${what}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: ${what}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
