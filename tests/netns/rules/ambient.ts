import type { Rule, RuleSet } from './model.ts';

/** The marks of ztunnel's sockets and connections. */
const ztunnel = 0x539;
const throughZtunnel = 0x111;
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' };
/** The address that the node agent gives to the kubelet's probes. */
const probes = { ipv4: '169.254.7.127', ipv6: 'fd16:9254:7127:1337:ffff:ffff:ffff:ffff' };

/** The sockets that ztunnel opens in the pod's network namespace: TCP, and 15053 on UDP besides. */
export const ztunnelPorts = { tcp: [15_001, 15_006, 15_008, 15_053], udp: [15_053] };

export interface AmbientPorts {
  inbound?: number;
  outbound?: number;
}

/** What istio-cni's node agent writes into an enrolled pod. Source: `istio/istio`, `cni/pkg/iptables`. */
export function ambient(ports: AmbientPorts = {}): RuleSet {
  return {
    rules: (family) => {
      const tcp = { protocol: 'tcp' } as const;
      const away = { destination: { not: loopback[family] } };
      const byOthers = { mark: { not: ztunnel } };
      return [
        rule('mangle', 'PREROUTING', {}, { jump: 'ISTIO_PRERT' }),
        rule('mangle', 'OUTPUT', {}, { jump: 'ISTIO_OUTPUT' }),
        rule('mangle', 'ISTIO_PRERT', { mark: ztunnel }, { markConnection: throughZtunnel }),
        rule('mangle', 'ISTIO_OUTPUT', { connectionMark: throughZtunnel }, 'restore-mark'),
        rule('nat', 'PREROUTING', {}, { jump: 'ISTIO_PRERT' }),
        rule('nat', 'OUTPUT', {}, { jump: 'ISTIO_OUTPUT' }),
        rule('nat', 'ISTIO_PRERT', { ...tcp, source: probes[family] }, 'accept'),
        rule(
          'nat',
          'ISTIO_PRERT',
          { ...tcp, ...away, ports: { not: [15_008] }, ...byOthers },
          { redirect: ports.inbound ?? 15_006 },
        ),
        rule('nat', 'ISTIO_OUTPUT', { ...tcp, destination: probes[family] }, 'accept'),
        rule(
          'nat',
          'ISTIO_OUTPUT',
          { protocol: 'udp', out: { not: 'lo' }, ports: [53], ...byOthers },
          { redirect: 15_053 },
        ),
        rule('nat', 'ISTIO_OUTPUT', { ...tcp, ...away, ports: [53], ...byOthers }, { redirect: 15_053 }),
        rule('nat', 'ISTIO_OUTPUT', { ...tcp, mark: throughZtunnel }, 'accept'),
        rule('nat', 'ISTIO_OUTPUT', { ...away, out: 'lo' }, 'accept'),
        rule('nat', 'ISTIO_OUTPUT', { ...tcp, ...away, ...byOthers }, { redirect: ports.outbound ?? 15_001 }),
      ];
    },
  };
}

function rule(table: Rule['table'], chain: string, match: Rule['match'], then: Rule['then']): Rule {
  return { table, chain, match, then };
}
