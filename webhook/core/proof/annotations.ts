import { isDeepStrictEqual as same } from 'node:util';
import { quoted } from '../../lib/clean.ts';
import { texts } from '../../lib/limits.ts';
import { own } from '../../lib/maps.ts';
import { foreign } from '../../lib/names.ts';
import type { Pod } from '../facts/pod.ts';
import {
  commaText,
  type NetworkEntry,
  type NetworkList,
  parseNetworks,
} from '../profiles/multus-networks.ts';
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
  // one that is too long is not read here, and Multus may read it
  if (networks.length > texts.annotation || parseNetworks(networks) !== undefined) return [];
  return [
    `${foreign.networks} is neither a comma list nor a JSON list that Multus can read: the pod cannot start`,
  ];
}

/** The result of merging a profile's networks into a pod's. */
export interface MergedNetworks {
  /** The pod's annotation afterwards; existing entries stay as they were written. */
  value: string;
  /** Warnings about values of the pod that were kept instead of the profile's. */
  kept: string[];
}

/**
 * Adds the networks that a pod lacks to those that it requests. The pod's entries, their order and their form stay; an
 * existing network is not added again. A comma list becomes JSON only if an entry cannot be written in that form.
 *
 * @param podNamespace the namespace of entries that name none
 */
export function mergeNetworks(podText: string, profileText: string, podNamespace: string): MergedNetworks {
  const pod = parseNetworks(podText);
  const profile = parseNetworks(profileText);
  if (pod === undefined || profile === undefined) {
    return { value: podText, kept: ["the pod's own list cannot be read, so nothing was added"] };
  }
  const kept: string[] = [];
  const missing = missingEntries(pod.entries, profile.entries, podNamespace, kept);
  return { value: missing.length === 0 ? podText : append(podText, pod, missing), kept };
}

const identity = (entry: NetworkEntry, podNamespace: string): string =>
  `${entry.namespace || podNamespace}/${entry.name}`;

/** Exact pairs first: each entry of the pod matches only one of the profile's. */
function missingEntries(
  have: NetworkEntry[],
  want: NetworkEntry[],
  podNamespace: string,
  kept: string[],
): NetworkEntry[] {
  const free = new Set(have);
  const take = (entry: NetworkEntry, exact: boolean): NetworkEntry | undefined => {
    const found = [...free].find(
      (candidate) =>
        identity(candidate, podNamespace) === identity(entry, podNamespace) &&
        (!exact || candidate.interface === entry.interface),
    );
    if (found !== undefined) free.delete(found);
    return found;
  };
  const devices = new Set(have.map((entry) => entry.interface));
  return want
    .map((entry) => ({ entry, exact: take(entry, true) }))
    .filter(({ entry, exact }) => {
      const name = identity(entry, podNamespace);
      const found = exact ?? take(entry, false);
      if (found !== undefined) {
        const fields = differences(found, entry);
        if (fields.length > 0) kept.push(`the pod's own entry wins: ${name} differs in ${fields.join(', ')}`);
        return false;
      }
      if (entry.interface === undefined || !devices.has(entry.interface)) return true;
      kept.push(`the pod's own entry wins: ${entry.interface} is taken, so ${name} was not added`);
      return false;
    })
    .map(({ entry }) => entry);
}

/** The fields of a profile's entry that differ in the pod's entry of the same network. */
function differences(kept: NetworkEntry, asked: NetworkEntry): string[] {
  const { name: _, namespace: __, ...rest } = asked;
  return Object.keys(rest).filter((key) => !same(kept[key], rest[key]));
}

/** The pod's text with entries appended. */
function append(text: string, list: NetworkList, entries: NetworkEntry[]): string {
  const empty = list.entries.length === 0;
  const short = entries.map(commaText);
  if (list.form === 'comma' && short.every((item) => item !== undefined)) {
    return empty ? short.join(', ') : `${text.trimEnd()}, ${short.join(', ')}`;
  }
  if (list.form === 'comma') return JSON.stringify([...list.entries, ...entries]);
  const items = entries.map((entry) => JSON.stringify(entry)).join(',');
  const open = text.slice(0, text.lastIndexOf(']')).trimEnd();
  return `${open}${empty ? '' : ','}${items}]`;
}
