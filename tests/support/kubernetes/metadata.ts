import type { Pod } from '../../../webhook/admission/pod.ts';
import { isDnsSubdomain, isLabelValue, isQualifiedName } from './formats.ts';

/** `TotalAnnotationSizeLimitB`. */
const mostAnnotationBytes = 256 * 1024;

/**
 * apimachinery `pkg/api/validation/objectmeta.go` (`ValidateObjectMeta`, `ValidateAnnotations`) and
 * `pkg/apis/meta/v1/validation/validation.go` (`ValidateLabels`). A null is an empty string, as Go decodes it.
 */
export function metadataFaults({ metadata }: Pod): string[] {
  const faults: string[] = [];
  const { name, generateName } = metadata;
  if (name && !isDnsSubdomain(name)) faults.push(`metadata.name: "${name}" is no name`);
  if (generateName && !isDnsSubdomain(`${generateName}a`)) {
    faults.push(`metadata.generateName: "${generateName}" is no name`);
  }
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (!isQualifiedName(key)) faults.push(`metadata.labels: "${key}" is no key`);
    if (!isLabelValue(value ?? '')) faults.push(`metadata.labels["${key}"]: "${value}" is no label value`);
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (!isQualifiedName(key.toLowerCase())) faults.push(`metadata.annotations: "${key}" is no key`);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value ?? '');
  }
  if (bytes > mostAnnotationBytes) faults.push('metadata.annotations: more than 256 KiB');
  return faults;
}
