import type { RuleSet } from './backends.ts';

/** The source address of Envoy's connections to the application, and an address that Envoy never uses as source. */
const passthrough = { ipv4: '127.0.0.6', ipv6: '::6' };
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' };

export interface IstioPorts {
  inbound?: number;
  outbound?: number;
  proxyUser?: number;
  /** The proxy's group. By default, it has the same number as the proxy's user. */
  proxyGroup?: number;
  /** Writes the rules of `interceptionMode: TPROXY`, with which inbound connections keep their destination port. */
  transparent?: boolean;
}

/**
 * The rules that istio-cni writes for a sidecar that captures all ports and addresses. Source: `istio/istio`,
 * `tools/istio-iptables/pkg/capture`. istio-validation tests the rule for the proxy itself: what the user or the
 * group 1337 sends over `lo` to an address other than 127.0.0.1 goes through the inbound redirect.
 */
export function istio(ports: IstioPorts = {}): RuleSet {
  const {
    inbound = 15_006,
    outbound = 15_001,
    proxyUser = 1337,
    proxyGroup = proxyUser,
    transparent,
  } = ports;
  /** Redirects the proxy's traffic to its own pod, and exempts its other traffic and other users' on `lo`. */
  const ofProxy = (own: string, id: number, self: string): string => `\
-A ISTIO_OUTPUT -o lo ! -d ${self} -p tcp -m multiport ! --dports 15008 -m owner ${own} ${id} -j ISTIO_IN_REDIRECT
-A ISTIO_OUTPUT -o lo -m owner ! ${own} ${id} -j RETURN
-A ISTIO_OUTPUT -m owner ${own} ${id} -j RETURN`;
  return {
    // exempt from the inbound redirect: HBONE, and the ports for health and metrics, which the injector excludes
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

/** The TPROXY rules. Routes for marked packets are left out: without a proxy, no marked packet reaches routing. */
const mangle = (inbound: number, self: string): string => `*mangle
:PREROUTING ACCEPT
:ISTIO_TPROXY -
-A PREROUTING -p tcp -j ISTIO_TPROXY
-A ISTIO_TPROXY ! -d ${self} -p tcp -j TPROXY --on-port ${inbound} --tproxy-mark 1337
COMMIT
`;
