import { isQualifiedName } from './formats.ts';

/** `validEnvDownwardAPIFieldPathExpressions`. */
const forVariables = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/** `validVolumeDownwardAPIFieldPathExpressions`. */
const forVolumes = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.labels',
  'metadata.annotations',
  'metadata.uid',
]);

/** What is wrong with a `fieldRef`: Kubernetes `pkg/apis/core/validation`, `validateObjectFieldSelector`. */
export function fieldRefFaults(fieldRef: unknown, use: 'variable' | 'volume', path: string): string[] {
  if (typeof fieldRef !== 'object' || fieldRef === null) return [];
  const { fieldPath, apiVersion } = fieldRef as { fieldPath?: string; apiVersion?: string };
  if (apiVersion !== undefined && apiVersion !== 'v1') return [`${path}: no version "${apiVersion}"`];
  if (fieldPath === undefined || fieldPath === '') return [`${path}: no fieldPath`];
  const subscript = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(fieldPath);
  const key = subscript?.[1] === 'annotations' ? subscript[2]?.toLowerCase() : subscript?.[2];
  const allowed =
    key === undefined
      ? (use === 'variable' ? forVariables : forVolumes).has(fieldPath)
      : isQualifiedName(key);
  return allowed ? [] : [`${path}: a ${use} cannot show ${fieldPath}`];
}
