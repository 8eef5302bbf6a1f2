import type { RuleSet } from './backends.ts';

export interface LinkerdPorts {
  inbound?: number;
  outbound?: number;
  proxyUser?: number;
  /** A group whose traffic is exempt as well. By default, there is none. */
  proxyGroup?: number;
  /** The ports of `skip-outbound-ports`, with ranges as iptables writes them. */
  skipped?: string;
  /** The ports of `skip-inbound-ports`, besides those of the proxy. */
  skippedInbound?: string;
}

/**
 * The rules that linkerd-cni and linkerd-init write, with the CLI's defaults. Source: `linkerd/linkerd2-proxy-init`,
 * `pkg/iptables`. The rules exempt, in this order, the proxy's own traffic, traffic on `lo`, and the skipped ports.
 * All other traffic goes to the proxy.
 */
export function linkerd(ports: LinkerdPorts = {}): RuleSet {
  const { inbound = 4143, outbound = 4140, proxyUser = 2102, proxyGroup, skipped = '4567,4568' } = ports;
  const notInbound = ['4190', '4191', ...(ports.skippedInbound?.split(',') ?? [])].join();
  const ofGroup = `-A PROXY_INIT_OUTPUT -m owner --gid-owner ${proxyGroup} -j RETURN\n`;
  return {
    rules: () => `*nat
:PREROUTING ACCEPT
:OUTPUT ACCEPT
:PROXY_INIT_REDIRECT -
:PROXY_INIT_OUTPUT -
-A PROXY_INIT_REDIRECT -p tcp -m multiport --dports ${notInbound} -j RETURN
-A PROXY_INIT_REDIRECT -p tcp -j REDIRECT --to-ports ${inbound}
-A PREROUTING -j PROXY_INIT_REDIRECT
-A PROXY_INIT_OUTPUT -m owner --uid-owner ${proxyUser} -j RETURN
${proxyGroup === undefined ? '' : ofGroup}-A PROXY_INIT_OUTPUT -o lo -j RETURN
-A PROXY_INIT_OUTPUT -p tcp -m multiport --dports ${skipped} -j RETURN
-A PROXY_INIT_OUTPUT -p tcp -j REDIRECT --to-ports ${outbound}
-A OUTPUT -j PROXY_INIT_OUTPUT
COMMIT
`,
  };
}
