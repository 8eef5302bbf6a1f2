import type { Pod } from '../../../webhook/admission/pod.ts';
import { fieldRefFaults } from './downward.ts';
import { isDnsLabel } from './formats.ts';

interface DownwardItem {
  path?: string;
  fieldRef?: unknown;
}

/** Kubernetes `pkg/apis/core/validation`: `ValidateVolumes`, `validateDownwardAPIVolumeSource`. */
export function volumeFaults(pod: Pod): string[] {
  const seen = new Set<string>();
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const path = `volumes[${volume.name}]`;
    const faults: string[] = [];
    if (!isDnsLabel(volume.name ?? '')) faults.push(`${path}.name: is no DNS label`);
    if (seen.has(volume.name)) faults.push(`${path}: a second volume of that name`);
    seen.add(volume.name);
    const sources = Object.keys(volume).filter((key) => key !== 'name' && volume[key] !== null);
    if (sources.length > 1) faults.push(`${path}: more than one source: ${sources.join(', ')}`);
    const items = (volume.downwardAPI as { items?: DownwardItem[] | null } | null | undefined)?.items ?? [];
    return [...faults, ...items.flatMap((item) => itemFaults(item, path))];
  });
}

function itemFaults({ path, fieldRef }: DownwardItem, volume: string): string[] {
  const local = path !== undefined && path !== '' && !path.startsWith('/') && !path.split('/').includes('..');
  return [
    ...(local ? [] : [`${volume}: "${path}" is no path inside the volume`]),
    ...fieldRefFaults(fieldRef, 'volume', volume),
  ];
}
