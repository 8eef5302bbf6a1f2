import { isDeepStrictEqual as same } from 'node:util';
import { type NetworkEntry, type NetworkList, parseNetworks } from '../../../validator/shared/networks.ts';

/**
 * Adds a profile's networks to a pod's list if the list lacks them. The pod's own entries keep their order and their
 * form. A comma list becomes JSON only if the comma form cannot express a new entry.
 * @param podNamespace the namespace of entries that name none
 * @returns the new annotation, and warnings about values of the pod that were kept in place of the profile's
 */
export function mergeNetworks(
  podText: string,
  profileText: string,
  podNamespace: string,
): { value: string; kept: string[] } {
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

/** Wanted entries that the pod lacks. An entry of the pod matches at most one: by name and interface, or by name. */
function missingEntries(
  have: NetworkEntry[],
  want: NetworkEntry[],
  podNamespace: string,
  kept: string[],
): NetworkEntry[] {
  const free = new Set(have);
  const take = (entry: NetworkEntry, exact: boolean): NetworkEntry | undefined => {
    const match = [...free].find(
      (candidate) =>
        identity(candidate, podNamespace) === identity(entry, podNamespace) &&
        (!exact || candidate.interface === entry.interface),
    );
    if (match !== undefined) free.delete(match);
    return match;
  };
  const devices = new Set(have.map((entry) => entry.interface));
  return want
    .map((entry) => ({ entry, exact: take(entry, true) }))
    .filter(({ entry, exact }) => {
      const name = identity(entry, podNamespace);
      const match = exact ?? take(entry, false);
      if (match !== undefined) {
        const fields = differences(match, entry);
        if (fields.length > 0) kept.push(`the pod's own entry wins: ${name} differs in ${fields.join(', ')}`);
        return false;
      }
      if (entry.interface === undefined || !devices.has(entry.interface)) return true;
      kept.push(`the pod's own entry wins: ${entry.interface} is taken, so ${name} was not added`);
      return false;
    })
    .map(({ entry }) => entry);
}

/** The fields in which the pod's entry of a network differs from the profile's. */
function differences(kept: NetworkEntry, asked: NetworkEntry): string[] {
  const { name: _, namespace: __, ...rest } = asked;
  return Object.keys(rest).filter((key) => !same(kept[key], rest[key]));
}

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

/** An entry in the form of the comma list, or undefined if that form cannot express it. */
function commaText(entry: NetworkEntry): string | undefined {
  const { name, namespace, interface: device, ...rest } = entry;
  if (Object.keys(rest).length > 0) return undefined;
  return `${namespace ? `${namespace}/` : ''}${name}${device ? `@${device}` : ''}`;
}
