import { readDevices } from '../devices.ts';
import { type Finding, passed } from '../finding.ts';
import type { Pod } from '../pod.ts';
import { defaultRoute, readRoutes } from '../proc/routes.ts';
import { type Family, formatAddress, isLinkLocal } from '../shared/addresses.ts';
import { type Attempt, now } from '../waiting.ts';
import { judgeAddresses } from './address.ts';
import { askByIPv4, askByIPv6, noGateway } from './ask-gateway.ts';

/**
 * How long the routes of a late address may be missing, in milliseconds: plugins write them directly after the address.
 */
const settling = 1000;

const gatewayUnknown = 'nothing was asked, because this kernel does not show the gateway of such a route';

/**
 * Checks that the default gateway answers at the link layer, so that the pod is attached to its datapath, independent
 * of policies. A pod can have its interface, address and routes before Cilium's agent attaches it (cilium issue 29405).
 *
 * An absent gateway counts as passed only in a pod that has its address, because an interface may be late or never
 * come.
 */
export function attemptGateway(family: Family, pod: Pod): Attempt {
  const wanted = pod.addresses.filter((address) => address.family === family);
  const answered = new Map<string, Finding>();
  let missing: { at: number; finding: Finding } | undefined;
  const withoutGateway = (reported: Finding): Finding => {
    // without an address, the family is that of an interface which existed at the start
    const finding = wanted.length === 0 ? passed('it') : judgeAddresses(wanted, readDevices());
    if (!finding.passed) missing = { at: now(), finding };
    return missing !== undefined && now() - missing.at < settling ? missing.finding : reported;
  };
  return async (deadline) => {
    const route = defaultRoute(readRoutes(family));
    if (!route) return withoutGateway(noGateway('no default route'));
    const { gateway, device, hiddenGateway } = route;
    if (hiddenGateway)
      return withoutGateway(passed(`a default route by ${device} with an IPv6 gateway`, gatewayUnknown));
    if (!gateway) return withoutGateway(noGateway(`a default route by ${device} without a gateway`));
    if (readDevices().some((it) => it.name === device && !it.neighbours))
      return withoutGateway(noGateway(`a default route by ${device}, which has no neighbours`));
    const text = formatAddress(gateway);
    const key = `${text} ${device}`;
    const found =
      family === 'IPv4'
        ? await askByIPv4(text, device, deadline)
        : await askByIPv6(isLinkLocal(gateway) ? `${text}%${device}` : text, device, deadline);
    if (!found.passed) return found;
    if (found.note === undefined) answered.set(key, found);
    // an earlier attempt of this run may have found the gateway: then it did answer
    return answered.get(key) ?? found;
  };
}
