/** The addresses that every test uses in its own namespaces. */

export type Family = 'ipv4' | 'ipv6';
export type Families = Family | 'dual';

export const familiesOf = (families: Families): Family[] =>
  families === 'dual' ? ['ipv4', 'ipv6'] : [families];

/** The pod's own address, and that of another pod on the same node. */
export const podAddress = { ipv4: '10.244.1.7', ipv6: 'fd00:10:244:1::7' } as const;
export const otherPodAddress = { ipv4: '10.244.1.8', ipv6: 'fd00:10:244:1::8' } as const;
/** The node's end of the pod's link. */
export const gatewayAddress = { ipv4: '10.244.1.1', ipv6: 'fd00:10:244:1::1' } as const;
/** The node's own address, which is on another interface. */
export const nodeAddress = { ipv4: '192.168.50.2', ipv6: 'fd00:192:168:50::2' } as const;
/** The gateway of AWS VPC CNI. No host has this address; a permanent neighbour entry stands for it. */
export const standInGateway = { ipv4: '169.254.1.1', ipv6: 'fe80::1' } as const;
/** The cluster IP of the API server's Service. */
export const serviceAddress = { ipv4: '10.96.0.1', ipv6: 'fd00:10:96::1' } as const;
export const serviceRange = { ipv4: '10.96.0.0/16', ipv6: 'fd00:10:96::/112' } as const;
/** The targets of the built-in profiles, from ranges for documentation (RFC 5737, RFC 3849), where nothing answers. */
export const outsideAddress = { ipv4: '192.0.2.2', ipv6: '2001:db8::2' } as const;
/** The address of the pod's second interface, and the address that a new sandbox could get instead. */
export const secondAddress = { ipv4: '10.10.0.7', ipv6: 'fd00:10:10::7' } as const;
export const otherSecondAddress = { ipv4: '10.10.0.8', ipv6: 'fd00:10:10::8' } as const;

/** An address with its prefix length, which is the full length for `host`. */
export function withPrefix(family: Family, address: string, scope: 'subnet' | 'host'): string {
  const lengths = { subnet: { ipv4: 24, ipv6: 64 }, host: { ipv4: 32, ipv6: 128 } };
  return `${address}/${lengths[scope][family]}`;
}
