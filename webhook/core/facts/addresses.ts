import { formatAddress, parseAddress } from '../../../validator/shared/addresses.ts';
import { listItems, texts } from '../../lib/limits.ts';
import { getOwn } from '../../lib/maps.ts';
import { foreign } from '../../lib/names.ts';
import type { ApiPod } from './api.ts';

/**
 * The addresses of a pod: `address` in the cluster's own network (`status.podIPs`), and `network/address` in a network
 * that Multus reports. Users can write Multus's annotation too, so entries that are not addresses are left out.
 * @param share returns the same string object for equal strings
 */
export function addressesOf(
  { metadata, status }: Pick<ApiPod, 'metadata' | 'status'>,
  share: (text: string) => string,
): readonly string[] {
  const found: string[] = [];
  const add = (network: string, ip: unknown): void => {
    const address = typeof ip === 'string' && ip.length <= longest ? parseAddress(ip) : undefined;
    if (address === undefined || found.length >= listItems) return;
    const spelled = formatAddress(address);
    found.push(network === '' ? spelled : `${share(network)}/${spelled}`);
  };
  for (const { ip } of status?.podIPs ?? []) add('', ip);
  for (const { name, ips } of networksOf(getOwn(metadata.annotations, foreign.networkStatus))) {
    for (const ip of ips) add(name, ip);
  }
  // a copy saves memory: after a push, V8 keeps room in the array for 16 more items
  return found.slice();
}

/** The maximum length of an address as text: IPv6 with an embedded IPv4 address. */
const longest = 45;

/** The maximum length of a network's name, `namespace/name`. Networks with longer names are left out. */
const nameOfNetwork = 128;

/** The additional networks that Multus reports; empty if Multus cannot have written the text. */
function networksOf(text: string | undefined): { name: string; ips: unknown[] }[] {
  if (text === undefined || text === '' || text.length > texts.annotation) return [];
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return [];
    return value.flatMap((entry: { name?: unknown; default?: unknown; ips?: unknown } | null) => {
      const { name, default: isDefault, ips } = entry ?? {};
      const isOther = isDefault !== true && typeof name === 'string' && name.length <= nameOfNetwork;
      return isOther && Array.isArray(ips) ? [{ name, ips }] : [];
    });
  } catch {
    return [];
  }
}
