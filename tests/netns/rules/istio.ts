import type { RuleSet } from './backends.ts';

/** Envoy's source address for connections to the application, and the address that it never uses. */
const passthrough = { ipv4: '127.0.0.6', ipv6: '::6' };
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' };

export interface IstioPorts {
  inbound?: number;
  outbound?: number;
  proxyUser?: number;
  /** Absent: the same number. */
  proxyGroup?: number;
  /** `interceptionMode: TPROXY`: connections from outside keep their port. */
  transparent?: boolean;
}

/**
 * What istio-cni writes for a sidecar that takes all ports and all addresses. Source: `istio/istio`,
 * `tools/istio-iptables/pkg/capture`. The rule that istio-validation goes through is the proxy's own: what uid or
 * gid 1337 sends over `lo` to an address other than 127.0.0.1 comes in again through the inbound redirect.
 */
export function istio(ports: IstioPorts = {}): RuleSet {
  const {
    inbound = 15_006,
    outbound = 15_001,
    proxyUser = 1337,
    proxyGroup = proxyUser,
    transparent,
  } = ports;
  /** Three rules about who sends: the proxy to itself, another user over `lo`, the proxy to the outside. */
  const ofProxy = (own: string, id: number, self: string): string => `\
-A ISTIO_OUTPUT -o lo ! -d ${self} -p tcp -m multiport ! --dports 15008 -m owner ${own} ${id} -j ISTIO_IN_REDIRECT
-A ISTIO_OUTPUT -o lo -m owner ! ${own} ${id} -j RETURN
-A ISTIO_OUTPUT -m owner ${own} ${id} -j RETURN`;
  return {
    // the ports that return are those of HBONE, and of health and metrics, which the injector excludes
    rules: (family) => `*nat
:PREROUTING ACCEPT
:OUTPUT ACCEPT
:ISTIO_REDIRECT -
:ISTIO_IN_REDIRECT -
:ISTIO_INBOUND -
:ISTIO_OUTPUT -
-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports ${outbound}
-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports ${inbound}
${transparent ? '' : '-A PREROUTING -p tcp -j ISTIO_INBOUND'}
-A ISTIO_INBOUND -p tcp -m multiport --dports 15008 -j RETURN
-A ISTIO_INBOUND -p tcp -m multiport --dports 15090,15021,15020 -j RETURN
-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT
-A OUTPUT -p tcp -j ISTIO_OUTPUT
-A ISTIO_OUTPUT -o lo -s ${passthrough[family]} -j RETURN
${ofProxy('--uid-owner', proxyUser, loopback[family])}
${ofProxy('--gid-owner', proxyGroup, loopback[family])}
-A ISTIO_OUTPUT -d ${loopback[family]} -j RETURN
-A ISTIO_OUTPUT -j ISTIO_REDIRECT
COMMIT
${transparent ? mangle(inbound, loopback[family]) : ''}`,
    loopbackAddresses: (family) => (family === 'ipv6' ? [`${passthrough.ipv6}/128 nodad`] : []),
  };
}

/** Without the routes of the mark: no packet that is marked gets so far in a pod without a proxy. */
const mangle = (inbound: number, self: string): string => `*mangle
:PREROUTING ACCEPT
:ISTIO_TPROXY -
-A PREROUTING -p tcp -j ISTIO_TPROXY
-A ISTIO_TPROXY ! -d ${self} -p tcp -j TPROXY --on-port ${inbound} --tproxy-mark 1337
COMMIT
`;
