/** The annotation `k8s.v1.cni.cncf.io/networks` as Multus reads it (`pkg/k8sclient`): a comma list or a JSON list. */
import { isDeepStrictEqual as same } from 'node:util';
import { texts } from '../../lib/limits.ts';

export interface NetworkEntry {
  name: string;
  namespace?: string;
  interface?: string;
  [key: string]: unknown;
}

export interface NetworkList {
  form: 'comma' | 'json';
  entries: NetworkEntry[];
}

const dnsName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** Linux allows at most 15 characters (IFNAMSIZ), without slashes and white space. */
const interfaceName = /^[^\s/,@]{1,15}$/;

/** Parses an annotation's text. Returns undefined if Multus could not read the text, or if it is too long. */
export function parseNetworks(text: string): NetworkList | undefined {
  if (text.length > texts.annotation) return undefined;
  const entries = isJson(text) ? parseJson(text) : parseCommaList(text);
  if (!entries?.every(isEntry)) return undefined;
  return { form: isJson(text) ? 'json' : 'comma', entries: entries.map(withoutEmpty) };
}

/** An entry in the form of the comma list, or undefined if that form cannot express it. */
export function commaText(entry: NetworkEntry): string | undefined {
  const { name, namespace, interface: device, ...rest } = entry;
  if (Object.keys(rest).length > 0) return undefined;
  return `${namespace ? `${namespace}/` : ''}${name}${device ? `@${device}` : ''}`;
}

/** Multus treats a text with any of these characters as JSON. */
const isJson = (text: string): boolean => /[[{"]/.test(text);

function parseJson(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseCommaList(text: string): NetworkEntry[] {
  if (text.trim() === '') return [];
  return text.split(',').map((item) => {
    const [path = '', device, ...more] = item.trim().split('@');
    const slash = path.indexOf('/');
    return {
      name: more.length > 0 ? '' : path.slice(slash + 1),
      ...(slash >= 0 && { namespace: path.slice(0, slash) }),
      ...(device !== undefined && { interface: device }),
    };
  });
}

function isEntry(entry: unknown): entry is NetworkEntry {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return false;
  const { name, namespace, interface: device } = entry as Record<string, unknown>;
  return (
    typeof name === 'string' &&
    dnsName.test(name) &&
    isOptional(namespace, dnsName) &&
    isOptional(device, interfaceName)
  );
}

/** Multus treats an empty text as absent. */
const isOptional = (value: unknown, form: RegExp): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'string' && form.test(value));

function withoutEmpty({ namespace, interface: device, ...rest }: NetworkEntry): NetworkEntry {
  return { ...rest, ...(namespace && { namespace }), ...(device && { interface: device }) };
}

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

/** The wanted entries without a match in the pod, by name and interface or else by name. A pod's entry matches once. */
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

/** The fields of a profile's entry that differ in the pod's entry of the same network. */
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
