import { formatAddress, parseAddress } from '../../../validator/shared/addresses.ts';
import { listItems, texts } from '../../lib/limits.ts';
import { getOwn } from '../../lib/maps.ts';
import { foreign } from '../../lib/names.ts';
import type { ApiPod } from './api.ts';

/**
 * The addresses of a pod: `address` in the cluster's network (`status.podIPs`), `network/address` in those that Multus
 * reports. Others write that annotation, so entries that are no addresses are left out.
 * @param share returns one string for equal ones
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
  // a list to which something was pushed has room for 16 more, which takes more memory than the addresses
  return found.slice();
}

/** Characters of the longest address: IPv6 with an IPv4 address at its end. */
const longest = 45;

/** Characters of a network's name, `namespace/name`, that are kept. */
const nameOfNetwork = 128;

/** The networks besides the cluster's own, as Multus reports them; none if the text is not what Multus writes. */
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
