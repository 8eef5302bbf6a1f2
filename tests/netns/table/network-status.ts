import { type Families, type Family, familiesOf } from '../harness/addresses.ts';
import { podNamespace } from '../harness/pods.ts';

/** The annotation `network-status` as Multus writes it for the specimen's one network. */
export function networkStatusOf(
  families: Families,
  first: Record<Family, string>,
  second: Record<Family, string>,
): string {
  const ips = (addresses: Record<Family, string>): string[] =>
    familiesOf(families).map((family) => addresses[family]);
  return JSON.stringify([
    { name: 'primary', interface: 'eth0', ips: ips(first), default: true, dns: {} },
    { name: `${podNamespace}/storage`, interface: 'net1', ips: ips(second), dns: {} },
  ]);
}
