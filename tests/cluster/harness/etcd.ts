import type { Cluster } from './cluster.ts';

/**
 * Takes all history out of etcd, so that what is asked for as it was gets 410. The API server keeps recent history of
 * its own and goes on answering from it: start it anew, which alone gives 410 to a watch that is resumed, or give it
 * `--watch-cache=false`.
 *
 * @returns the revision that is the oldest now
 */
export async function compact(cluster: Cluster): Promise<string> {
  const { header } = await call(cluster, 'range', { key: base64('\0') });
  await call(cluster, 'compaction', { revision: header.revision, physical: true });
  return header.revision;
}

/** etcd's API as JSON (etcd.io, gRPC gateway). */
async function call(cluster: Cluster, what: string, body: object): Promise<{ header: { revision: string } }> {
  const url = `http://127.0.0.1:${cluster.ports.etcd}/v3/kv/${what}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd: ${what}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { header: { revision: string } };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
