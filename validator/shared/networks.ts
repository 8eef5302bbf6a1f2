/** The annotation `k8s.v1.cni.cncf.io/networks` as Multus reads it (`pkg/k8sclient`): a comma list or a JSON list. */

export interface NetworkEntry {
  name: string;
  namespace?: string;
  interface?: string;
  [key: string]: unknown;
}

/** A longer text is not parsed. 100 networks as JSON have 10 KiB. */
const longestNetworks = 65_536;

const dnsName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** Linux allows at most 15 characters (IFNAMSIZ), without slashes and white space. */
const interfaceName = /^[^\s/,@]{1,15}$/;

/** Parses an annotation's text. Returns undefined if Multus could not read the text, or if it is too long. */
export function parseNetworks(text: string): NetworkEntry[] | undefined {
  if (text.length > longestNetworks) return undefined;
  // like Multus, takes a text with any of these characters for JSON
  const entries = /[[{"]/.test(text) ? parseList(text) : parseCommaList(text);
  return entries?.every(isEntry) ? entries.map(withoutEmpty) : undefined;
}

/** The list in a JSON text; undefined if the text is not JSON, or not a list. */
export function parseList(text: string): unknown[] | undefined {
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
