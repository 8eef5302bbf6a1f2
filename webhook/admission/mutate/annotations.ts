import { parseNetworks } from '../../config/networks.ts';
import { quoted } from '../../lib/clean.ts';
import { texts } from '../../lib/limits.ts';
import { foreign } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import type { Pod } from '../pod.ts';
import { mergeNetworks } from './merge-networks.ts';
import type { ProofRequirements } from './proof-requirements.ts';

/** Changes to the annotations of a pod. */
export interface AnnotationChanges {
  /** Values to set, by key. */
  set: Map<string, string>;
  /** Warnings about values of the pod that were kept. */
  warnings: string[];
}

/** Returns the annotations of the profiles that the pod lacks. Networks are merged. */
export function annotationChanges(
  pod: Pod,
  requirements: ProofRequirements,
  namespace: string,
): AnnotationChanges {
  const changes: AnnotationChanges = { set: new Map(), warnings: unreadableNetworks(pod, requirements) };
  for (const { name, annotations } of requirements.profiles) {
    for (const [key, value] of Object.entries(annotations)) {
      const original = own(pod.metadata.annotations, key);
      const current = changes.set.get(key) ?? original;
      if (current === undefined) {
        changes.set.set(key, value);
      } else if (key === foreign.networks) {
        const { value: merged, kept } = mergeNetworks(current, value, namespace);
        if (merged !== original) changes.set.set(key, merged);
        for (const text of kept) changes.warnings.push(`profile ${name}: ${key}: ${text}`);
      } else if (current !== value) {
        changes.warnings.push(
          `profile ${name}: the pod's own ${key} wins: "${quoted(current)}", not "${value}"`,
        );
      }
    }
  }
  return changes;
}

/** Networks that Multus is asked for in a form that it cannot read: it then makes no sandbox for the pod. */
function unreadableNetworks(pod: Pod, requirements: ProofRequirements): string[] {
  const networks = own(pod.metadata.annotations, foreign.networks);
  if (networks === undefined || !requirements.words.includes('interfaces')) return [];
  return parseNetworks(networks) === undefined
    ? [
        networks.length > texts.annotation
          ? `${foreign.networks} has more than ${texts.annotation} characters, and was not read`
          : `${foreign.networks} is neither a comma list nor a JSON list that Multus can read: the pod cannot start`,
      ]
    : [];
}
