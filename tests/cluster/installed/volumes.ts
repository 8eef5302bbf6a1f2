import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Cluster } from '../harness/cluster.ts';
import type { StoredPod } from './pod.ts';

interface Item {
  key: string;
  path: string;
}

/** A volume of a pod, with the volume types that the manifests use. */
export interface Volume {
  name: string;
  configMap?: { name: string; items?: Item[] };
  secret?: { secretName: string; items?: Item[] };
  projected?: { sources: Source[] };
}

interface Source {
  configMap?: { name: string; items?: Item[] };
  serviceAccountToken?: { path: string; expirationSeconds?: number };
  downwardAPI?: { items: { path: string; fieldRef: { fieldPath: string } }[] };
}

type Files = [path: string, text: string][];

/** Writes a volume through a link `..data`, as the kubelet does (kubernetes pkg/volume/util/atomic_writer.go). */
export async function writeVolume(
  cluster: Cluster,
  pod: StoredPod,
  volume: Volume,
  folder: string,
): Promise<void> {
  const files = await filesOf(cluster, pod, volume);
  mkdirSync(folder, { recursive: true });
  const version = mkdtempSync(`${folder}/..`);
  chmodSync(version, 0o755);
  for (const [path, text] of files) writeFileSync(join(version, path), text, { mode: 0o644 });
  const swap = join(folder, '..data-new');
  symlinkSync(basename(version), swap);
  renameSync(swap, join(folder, '..data'));
  for (const [path] of files) {
    if (!existsSync(join(folder, path))) symlinkSync(join('..data', path), join(folder, path));
  }
}

function filesOf(
  cluster: Cluster,
  pod: StoredPod,
  { configMap, secret, projected, name }: Volume,
): Promise<Files> {
  if (configMap) return keys(cluster, pod, 'configmaps', configMap.name, configMap.items);
  if (secret) return keys(cluster, pod, 'secrets', secret.secretName, secret.items);
  if (projected) return all(projected.sources.map((source) => filesOfSource(cluster, pod, source)));
  throw new Error(`volume ${name} is of a kind that tests/cluster/installed/volumes.ts does not know`);
}

const all = async (parts: Promise<Files>[]): Promise<Files> => (await Promise.all(parts)).flat();

async function filesOfSource(cluster: Cluster, pod: StoredPod, source: Source): Promise<Files> {
  const { configMap, serviceAccountToken: token, downwardAPI } = source;
  if (configMap) return keys(cluster, pod, 'configmaps', configMap.name, configMap.items);
  if (token) return [[token.path, await tokenFor(cluster, pod, token.expirationSeconds)]];
  return (downwardAPI?.items ?? []).map(({ path, fieldRef }) => [path, fieldOf(pod, fieldRef.fieldPath)]);
}

async function keys(
  cluster: Cluster,
  { metadata }: StoredPod,
  kind: 'configmaps' | 'secrets',
  name: string,
  items?: Item[],
): Promise<Files> {
  const path = `/api/v1/namespaces/${metadata.namespace}/${kind}/${name}`;
  const { data = {} } = await cluster.api.get<{ data?: Record<string, string> }>(path);
  const text = (value = ''): string => (kind === 'secrets' ? Buffer.from(value, 'base64').toString() : value);
  const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return wanted.map((item) => [item.path, text(data[item.key])]);
}

async function tokenFor(cluster: Cluster, { metadata, spec }: StoredPod, seconds = 3600): Promise<string> {
  const path = `/api/v1/namespaces/${metadata.namespace}/serviceaccounts/${spec.serviceAccountName}/token`;
  const { status } = await cluster.api.post<{ status: { token: string } }>(path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      expirationSeconds: seconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid },
    },
  });
  return status.token;
}

export function fieldOf({ metadata, status }: StoredPod, path: string): string {
  const value = {
    'metadata.namespace': metadata.namespace,
    'metadata.name': metadata.name,
    'status.podIP': status.podIP,
  }[path];
  if (value === undefined)
    throw new Error(`field ${path} is not known to tests/cluster/installed/volumes.ts`);
  return value;
}
