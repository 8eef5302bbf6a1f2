import type { TestContext } from 'node:test';
import jsonPatch from 'fast-json-patch';
import { type Asked, type FakeApiServer, json, startFakeApi, status } from '../support/fake-api-server.ts';

interface Stored {
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
  };
  spec?: { nodeName?: string };
  [field: string]: unknown;
}

/**
 * An API server that keeps objects in memory: enough of one for a replica to lead, to write its certificate, and to
 * nominate and delete pods. Watches stay open and are silent.
 *
 * @param objects by the path of their folder, such as `/api/v1/namespaces/shop/pods`
 */
export function startStoredCluster(
  t: TestContext,
  objects: Record<string, object[]>,
): Promise<FakeApiServer> {
  const stored = new Map<string, Stored>();
  let version = 100;
  const put = (path: string, object: Stored): Stored => {
    version += 1;
    const { metadata } = object;
    const kept = {
      ...object,
      metadata: { uid: `uid-${version}`, ...metadata, resourceVersion: String(version) },
    };
    stored.set(path, kept);
    return kept;
  };
  for (const [folder, some] of Object.entries(objects))
    for (const object of some as Stored[]) put(`${folder}/${object.metadata.name}`, object);

  /** What a request other than GET changes; undefined if its object does not exist. */
  const write = ({ method, path, headers, body }: Asked): Stored | undefined => {
    const given = body === '' ? {} : JSON.parse(body);
    const at = method === 'POST' ? `${path}/${given.metadata.name}` : path.replace(/\/status$/, '');
    const found = stored.get(at);
    if (method === 'POST') return put(at, given);
    if (found === undefined) return undefined;
    if (method === 'PUT') return put(at, given);
    if (method === 'DELETE') {
      stored.delete(at);
      return found;
    }
    const isJsonPatch = headers['content-type'] === 'application/json-patch+json';
    return put(at, isJsonPatch ? jsonPatch.applyPatch(found, given).newDocument : merged(found, given));
  };

  const read = (path: string, query: Asked['query']): object | undefined => {
    if (path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.3' };
    const one = stored.get(path);
    if (one !== undefined || !isFolder(path)) return one;
    const items = [...stored]
      .filter(([at, object]) => isIn(at, path) && isSelected(object, query))
      .map(([, object]) => object);
    return { metadata: { resourceVersion: String(version) }, items };
  };

  return startFakeApi(t, (asked, response) => {
    const { method, path, query } = asked;
    if (query.watch !== undefined) {
      response.writeHead(200).flushHeaders();
      return;
    }
    const answer = method === 'GET' ? read(path, query) : write(asked);
    json(response, answer ? 200 : 404, answer ?? status(404, 'NotFound', 'not found'));
  });
}

const isFolder = (path: string): boolean =>
  /\/(namespaces|nodes|pods|daemonsets|events|replicasets|jobs)$/.test(path);

/** Whether an object is in a folder: that of its namespace, or that of all namespaces. */
function isIn(at: string, folder: string): boolean {
  const [base = '', kind = ''] = [folder.slice(0, folder.lastIndexOf('/')), folder.split('/').at(-1)];
  const own = at.slice(0, at.lastIndexOf('/'));
  return own === folder || (own.startsWith(`${base}/namespaces/`) && own.endsWith(`/${kind}`));
}

function isSelected({ metadata, spec }: Stored, { labelSelector, fieldSelector }: Asked['query']): boolean {
  const [label = '', value] = (labelSelector ?? '').split('=');
  const labelled =
    label === '' ||
    (value === undefined ? label in (metadata.labels ?? {}) : metadata.labels?.[label] === value);
  const named = /^metadata\.name=(.*)$/.exec(fieldSelector ?? '')?.[1];
  const isPlaced = (spec?.nodeName ?? '') !== '';
  return (
    labelled &&
    (named === undefined || named === metadata.name) &&
    (fieldSelector !== 'spec.nodeName=' || !isPlaced) &&
    (fieldSelector !== 'spec.nodeName!=' || isPlaced)
  );
}

/** RFC 7396. */
function merged<T>(target: T, patch: unknown): T;
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null ? target : {};
  const entries = Object.entries(patch).map(([key, value]) => [
    key,
    merged((base as Record<string, unknown>)[key], value),
  ]);
  return { ...base, ...Object.fromEntries(entries) };
}
