import type { Family } from '../harness/addresses.ts';
import type { Rule, RuleSet } from './model.ts';

/** Envoy's source address for connections to the application, and the address that it never uses. */
const passthrough = { ipv4: '127.0.0.6', ipv6: '::6' };
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' };

export interface IstioPorts {
  inbound?: number;
  outbound?: number;
  /** The user of the proxy. */
  proxyUser?: number;
  /** Absent: the same number. */
  proxyGroup?: number;
}

/**
 * What istio-cni writes for a sidecar that takes all ports and all addresses. Source: `istio/istio`,
 * `tools/istio-iptables/pkg/capture`. The rule that istio-validation goes through is the proxy's own: what uid or
 * gid 1337 sends over `lo` to an address other than 127.0.0.1 comes in again through the inbound redirect.
 */
export function istio(ports: IstioPorts = {}): RuleSet {
  const proxy = ports.proxyUser ?? 1337;
  const group = ports.proxyGroup ?? proxy;
  return {
    rules: (family) => [
      nat('ISTIO_REDIRECT', { protocol: 'tcp' }, { redirect: ports.outbound ?? 15_001 }),
      nat('ISTIO_IN_REDIRECT', { protocol: 'tcp' }, { redirect: ports.inbound ?? 15_006 }),
      nat('PREROUTING', { protocol: 'tcp' }, { jump: 'ISTIO_INBOUND' }),
      // HBONE, then the ports of health and metrics that the injector excludes
      nat('ISTIO_INBOUND', { protocol: 'tcp', ports: [15_008] }, 'return'),
      nat('ISTIO_INBOUND', { protocol: 'tcp', ports: [15_090, 15_021, 15_020] }, 'return'),
      nat('ISTIO_INBOUND', { protocol: 'tcp' }, { jump: 'ISTIO_IN_REDIRECT' }),
      nat('OUTPUT', { protocol: 'tcp' }, { jump: 'ISTIO_OUTPUT' }),
      nat('ISTIO_OUTPUT', { out: 'lo', source: passthrough[family] }, 'return'),
      ...ofProxy(family, { uid: proxy }, { uid: { not: proxy } }),
      ...ofProxy(family, { gid: group }, { gid: { not: group } }),
      nat('ISTIO_OUTPUT', { destination: loopback[family] }, 'return'),
      nat('ISTIO_OUTPUT', {}, { jump: 'ISTIO_REDIRECT' }),
    ],
    loopbackAddresses: (family) => (family === 'ipv6' ? [`${passthrough.ipv6}/128 nodad`] : []),
  };
}

/** Three rules about who sends: the proxy to itself, another user over `lo`, the proxy to the outside. */
function ofProxy(family: Family, owner: Rule['match'], anybodyElse: Rule['match']): Rule[] {
  const toItself = { out: 'lo', destination: { not: loopback[family] }, protocol: 'tcp' } as const;
  return [
    nat('ISTIO_OUTPUT', { ...toItself, ports: { not: [15_008] }, ...owner }, { jump: 'ISTIO_IN_REDIRECT' }),
    nat('ISTIO_OUTPUT', { out: 'lo', ...anybodyElse }, 'return'),
    nat('ISTIO_OUTPUT', owner, 'return'),
  ];
}

function nat(chain: string, match: Rule['match'], then: Rule['then']): Rule {
  return { table: 'nat', chain, match, then };
}
