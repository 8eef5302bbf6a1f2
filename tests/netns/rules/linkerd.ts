import type { Rule, RuleSet } from './model.ts';

const inbound = 'PROXY_INIT_REDIRECT';
const outbound = 'PROXY_INIT_OUTPUT';

export interface LinkerdPorts {
  inbound?: number;
  outbound?: number;
  proxyUser?: number;
  /** A group that is let through as well; there is none by default. */
  proxyGroup?: number;
}

/**
 * What linkerd-cni and linkerd-init write, with the CLI's defaults. Source: `linkerd/linkerd2-proxy-init`,
 * `pkg/iptables`: first the proxy's own traffic is let through, then what stays on `lo`, then the ports that
 * were opted out, and the rest goes to the proxy.
 */
export function linkerd(ports: LinkerdPorts = {}): RuleSet {
  const rule = (chain: string, match: Rule['match'], then: Rule['then']): Rule => ({
    table: 'nat',
    chain,
    match,
    then,
  });
  return {
    rules: () => [
      rule(inbound, { protocol: 'tcp', ports: [4190, 4191] }, 'return'),
      rule(inbound, { protocol: 'tcp' }, { redirect: ports.inbound ?? 4143 }),
      rule('PREROUTING', {}, { jump: inbound }),
      rule(outbound, { uid: ports.proxyUser ?? 2102 }, 'return'),
      ...(ports.proxyGroup === undefined ? [] : [rule(outbound, { gid: ports.proxyGroup }, 'return')]),
      rule(outbound, { out: 'lo' }, 'return'),
      rule(outbound, { protocol: 'tcp', ports: [4567, 4568] }, 'return'),
      rule(outbound, { protocol: 'tcp' }, { redirect: ports.outbound ?? 4140 }),
      rule('OUTPUT', {}, { jump: outbound }),
    ],
  };
}
