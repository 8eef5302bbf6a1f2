import { type Family, formatAddress, isLinkLocal } from '../addresses.ts';
import { hasNoNeighbours } from '../devices.ts';
import type { Finding } from '../finding.ts';
import { defaultRoute } from '../proc/routes.ts';
import { readRoutes } from '../read-routes.ts';
import { untilHeld } from '../waiting.ts';
import { askByIPv4 } from './gateway-ipv4.ts';
import { askByIPv6 } from './gateway-ipv6.ts';
import { noGateway } from './no-gateway.ts';

/**
 * The default gateway answers at the link layer: the pod is attached to its datapath, whatever policies say. A pod
 * can have its interface, address and routes before Cilium's agent attached anything to it (cilium issue 29405).
 */
export function proveGateway(family: Family, end: number): Promise<Finding> {
  return untilHeld(end, async () => {
    const route = defaultRoute(readRoutes(family));
    if (!route) return noGateway('no default route');
    const { gateway, device } = route;
    if (!gateway) return noGateway(`a default route by ${device} without a gateway`);
    if (hasNoNeighbours(device)) return noGateway(`a default route by ${device}, which has no neighbours`);
    const text = formatAddress(gateway);
    if (family === 'IPv4') return askByIPv4(text, device, end);
    return askByIPv6(isLinkLocal(gateway) ? `${text}%${device}` : text, device, end);
  });
}
