import type { RuleSet } from './backends.ts';

/** The marks of ztunnel's sockets, and of connections through ztunnel, in the bits that Istio uses. */
const ztunnel = '0x539/0xfff';
const throughZtunnel = '0x111/0xfff';
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' };
/** The source address that Istio's node agent gives to the kubelet's probes. */
const probes = { ipv4: '169.254.7.127', ipv6: 'fd16:9254:7127:1337:ffff:ffff:ffff:ffff' };

/** The ports that ztunnel opens in the pod's network namespace: all of them on TCP, and 15053 also on UDP. */
export const ztunnelPorts = { tcp: [15_001, 15_006, 15_008, 15_053], udp: [15_053] };

export interface AmbientPorts {
  inbound?: number;
  outbound?: number;
}

/** The rules that istio-cni's node agent writes into an enrolled pod. Source: `istio/istio`, `cni/pkg/iptables`. */
export function ambient({ inbound = 15_006, outbound = 15_001 }: AmbientPorts = {}): RuleSet {
  const chains = ':PREROUTING ACCEPT\n:OUTPUT ACCEPT\n:ISTIO_PRERT -\n:ISTIO_OUTPUT -';
  const hooks = '-A PREROUTING -j ISTIO_PRERT\n-A OUTPUT -j ISTIO_OUTPUT';
  const byOthers = `-m mark ! --mark ${ztunnel}`;
  return {
    rules: (family) => {
      const away = `! -d ${loopback[family]}`;
      return `*mangle
${chains}
${hooks}
-A ISTIO_PRERT -m mark --mark ${ztunnel} -j CONNMARK --set-xmark ${throughZtunnel}
-A ISTIO_OUTPUT -m connmark --mark ${throughZtunnel} -j CONNMARK --restore-mark
COMMIT
*nat
${chains}
${hooks}
-A ISTIO_PRERT -s ${probes[family]} -p tcp -j ACCEPT
-A ISTIO_PRERT ${away} -p tcp -m multiport ! --dports 15008 ${byOthers} -j REDIRECT --to-ports ${inbound}
-A ISTIO_OUTPUT -d ${probes[family]} -p tcp -j ACCEPT
-A ISTIO_OUTPUT ! -o lo -p udp -m multiport --dports 53 ${byOthers} -j REDIRECT --to-ports 15053
-A ISTIO_OUTPUT ${away} -p tcp -m multiport --dports 53 ${byOthers} -j REDIRECT --to-ports 15053
-A ISTIO_OUTPUT -p tcp -m mark --mark ${throughZtunnel} -j ACCEPT
-A ISTIO_OUTPUT ${away} -o lo -j ACCEPT
-A ISTIO_OUTPUT ${away} -p tcp ${byOthers} -j REDIRECT --to-ports ${outbound}
COMMIT
`;
    },
  };
}
