import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

const manifests = fileURLToPath(new URL('../manifests', import.meta.url));

/** The fields that identify a Kubernetes object. */
export interface KubernetesObject {
  kind: string;
  metadata: { name: string };
  [field: string]: unknown;
}

/** A kustomization based on an overlay: names of folders in manifests/, and further fields such as `patches`. */
export interface Kustomization {
  overlay: string;
  components?: string[];
  transformers?: string[];
  fields?: Record<string, unknown>;
}

/** Renders a kustomization with `kubectl kustomize`, as YAML with all objects. */
export async function kustomize(kustomization: Kustomization, kubectl = 'kubectl'): Promise<string> {
  const { overlay, components = [], transformers = [], fields = {} } = kustomization;
  const folder = mkdtempSync(join(tmpdir(), 'kustomization-'));
  const from = (path: string): string => relative(folder, join(manifests, path));
  const text = JSON.stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [from(`overlays/${overlay}`)],
    components: components.map((name) => from(`components/${name}`)),
    transformers: transformers.map((name) => from(`transformers/${name}`)),
    ...fields,
  });
  try {
    writeFileSync(join(folder, 'kustomization.yaml'), text);
    const maxBuffer = 64 * 1024 * 1024;
    return (await promisify(execFile)(kubectl, ['kustomize', folder], { maxBuffer })).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The objects of a YAML stream. */
export function objectsOf(yaml: string): KubernetesObject[] {
  return parseAllDocuments(yaml, { version: '1.1' })
    .map((document) => document.toJS({ maxAliasCount: -1 }))
    .filter((object) => object !== null);
}

/** The key of an object: no two objects of cni-gate have the same kind and name. */
export const idOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name}`;
