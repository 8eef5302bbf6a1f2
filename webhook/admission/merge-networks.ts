import { commaText, type NetworkEntry, type NetworkList, parseNetworks } from '../config/networks.ts';

/** What came of merging a profile's networks into a pod's. */
export interface MergedNetworks {
  /** The pod's annotation afterwards; what was there stays as it was written. */
  value: string;
  /** Where the pod's own value won over the profile's, for a warning. */
  kept: string[];
}

/**
 * Adds the networks that a pod lacks to those it asks for. The pod's entries, their order and their form stay;
 * a network that is there already is not added again. A comma list becomes JSON only where an entry says more
 * than that form can.
 *
 * @param podNamespace an entry without a namespace means this one
 */
export function mergeNetworks(podText: string, profileText: string, podNamespace: string): MergedNetworks {
  const pod = parseNetworks(podText);
  const profile = parseNetworks(profileText);
  if (pod === undefined || profile === undefined) {
    return { value: podText, kept: ['cannot be read as a list of networks, so nothing was added'] };
  }
  const kept: string[] = [];
  const missing = missingEntries(pod.entries, profile.entries, podNamespace, kept);
  return { value: missing.length === 0 ? podText : append(podText, pod, missing), kept };
}

const identity = (entry: NetworkEntry, podNamespace: string): string =>
  `${entry.namespace || podNamespace}/${entry.name}`;

/** Exact pairs first: each entry of the pod can stand for one of the profile's only. */
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
    .filter((entry) => take(entry, true) === undefined)
    .filter((entry) => {
      const found = take(entry, false);
      if (found !== undefined) {
        if (entry.interface !== undefined && found.interface !== undefined) {
          kept.push(`${identity(entry, podNamespace)} is on ${found.interface}, not on ${entry.interface}`);
        }
        return false;
      }
      if (entry.interface === undefined || !devices.has(entry.interface)) return true;
      kept.push(`${entry.interface} is taken, so ${identity(entry, podNamespace)} was not added`);
      return false;
    });
}

/** The pod's text with entries behind it. */
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
