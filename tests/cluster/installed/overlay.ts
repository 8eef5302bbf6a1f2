import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Kustomization, kustomize } from '../../../release/kustomize.ts';
import { profileLabel } from '../../../webhook/lib/names.ts';
import { validatorImage } from '../../../webhook/lib/version.ts';
import { programPath } from '../binaries/ensure.ts';
import { ApiError } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { namespace, pod } from '../harness/objects.ts';

export type Overlay =
  | 'strict'
  | 'permissive'
  | 'files'
  | 'cert-manager'
  | 'strict-policies'
  | 'permissive-policies'
  | 'proof-only';

const own = fileURLToPath(new URL('../../../', import.meta.url));

export const overlayPath = (overlay: Overlay): string => join(own, 'manifests/overlays', overlay);

export async function apply(cluster: Cluster, overlay: Overlay): Promise<void> {
  await cluster.kubectl(['apply', '--validate=strict', '-k', overlayPath(overlay)]);
}

/** Applies a user's kustomization that builds on an overlay, as the install guide describes. */
export async function applyOwn(cluster: Cluster, kustomization: Kustomization): Promise<void> {
  const input = await kustomize(kustomization, programPath('kubectl'));
  await cluster.kubectl(['apply', '--validate=strict', '-f', '-'], { input });
}

export const policyName = 'pods.cni-gate.io';

export async function acceptImages(cluster: Cluster, ...images: string[]): Promise<void> {
  const value = `[${[validatorImage, ...images].map((image) => `'${image}'`).join(', ')}]`;
  const patch = JSON.stringify([
    { op: 'test', path: '/spec/variables/0/name', value: 'images' },
    { op: 'replace', path: '/spec/variables/0/expression', value },
  ]);
  await cluster.kubectl(['patch', 'validatingadmissionpolicy', policyName, '--type=json', '-p', patch]);
}

export const byPolicy = (error: unknown, name = policyName): error is ApiError =>
  error instanceof ApiError && error.message.includes(`ValidatingAdmissionPolicy '${name}'`);

export const tryPod = <T>(cluster: Cluster, where: string, object: object): Promise<T> =>
  cluster.api.post<T>(`/api/v1/namespaces/${where}/pods?dryRun=All`, object);

/** Removes our webhook, and polls until the policy for pods is in force, because no event announces this. */
export async function policyAlone(cluster: Cluster): Promise<void> {
  await cluster.kubectl(['delete', 'mutatingwebhookconfigurations', 'cni-gate']);
  const where = 'policy-alone';
  await cluster.apply(namespace(where, { [profileLabel]: 'cilium' }));
  // a controller creates the service account; the API server refuses pods until then
  await cluster.api.until(`/api/v1/namespaces/${where}/serviceaccounts`, () => true);
  await eventually(() =>
    assert.rejects(tryPod(cluster, where, pod('probe')), (error: unknown) => byPolicy(error)),
  );
}
