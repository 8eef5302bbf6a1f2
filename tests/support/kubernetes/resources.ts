import type { Resources } from '../../../webhook/admission/pod.ts';
import { nanos } from './quantity.ts';

/**
 * Kubernetes `pkg/apis/core/validation`, `ValidateResourceRequirements`: every quantity is one and not negative,
 * and no request is above its limit.
 */
export function resourceFaults(resources: Resources | null | undefined, path: string): string[] {
  const faults: string[] = [];
  for (const kind of ['requests', 'limits'] as const) {
    for (const [name, value] of Object.entries(resources?.[kind] ?? {})) {
      const amount = nanos(value);
      if (amount === undefined || amount < 0n)
        faults.push(`${path}.${kind}.${name}: "${value}" is no quantity`);
    }
  }
  const limits = resources?.limits ?? {};
  for (const [name, value] of Object.entries(resources?.requests ?? {})) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    if (limit !== undefined && (nanos(value) ?? 0n) > (nanos(limit) ?? 0n)) {
      faults.push(`${path}.requests.${name}: ${value} is more than the limit ${limit}`);
    }
  }
  return faults;
}
