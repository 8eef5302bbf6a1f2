import { type Families, type Family, familiesOf } from '../harness/addresses.ts';
import { podNamespace } from '../harness/pods.ts';

/**
 * The annotation `network-status` as Multus writes it for the specimen's one network.
 *
 * @param second the addresses of that network's interface; where it is not given Multus made nothing for it
 */
export function networkStatusOf(
  families: Families,
  first: Record<Family, string>,
  second?: Record<Family, string>,
): string {
  const ips = (addresses: Record<Family, string>): string[] =>
    familiesOf(families).map((family) => addresses[family]);
  return JSON.stringify([
    { name: 'primary', interface: 'eth0', ips: ips(first), default: true, dns: {} },
    ...(second ? [{ name: `${podNamespace}/storage`, interface: 'net1', ips: ips(second), dns: {} }] : []),
  ]);
}

export const secondMac = '02:00:00:00:01:07';

/** The same if neither the cluster's own plugin nor the network's reports an address. */
export const linkLayerStatus = JSON.stringify([
  { name: 'primary', interface: 'eth0', default: true, dns: {} },
  { name: `${podNamespace}/storage`, interface: 'net1', mac: secondMac.toUpperCase(), dns: {} },
]);
