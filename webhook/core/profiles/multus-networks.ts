/**
 * The annotation `k8s.v1.cni.cncf.io/networks` in both forms that Multus accepts (its `pkg/k8sclient`, and the Network
 * Plumbing Working Group's specification): a comma list `ns/name@interface`, or a JSON list of objects.
 */
import { texts } from '../../lib/limits.ts';

/** One requested network, as a JSON object of the specification. */
export interface NetworkEntry {
  name: string;
  namespace?: string;
  interface?: string;
  [key: string]: unknown;
}

/** The networks that a Multus annotation requests, and the form in which it does. */
export interface NetworkList {
  form: 'comma' | 'json';
  entries: NetworkEntry[];
}

const dnsName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** Linux allows 15 characters (IFNAMSIZ), and neither slashes nor white space. */
const interfaceName = /^[^\s/,@]{1,15}$/;

/** Parses an annotation's text. Returns undefined if Multus could not read it or it is too long. */
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
