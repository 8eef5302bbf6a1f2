import {
  type Families,
  type Family,
  familiesOf,
  otherPodAddress,
  outsideAddress,
  podAddress,
  secondAddress,
  withPrefix,
} from '../harness/addresses.ts';
import { type Listening, listen } from '../harness/listeners.ts';
import { podNamespace } from '../harness/pods.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { ztunnelPorts } from '../rules/ambient.ts';
import { type Backend, type RuleSet, writeRules } from '../rules/backends.ts';
import type { Step } from './plan.ts';

export const write =
  (rules: RuleSet, options: { backend?: Backend; families?: Families } = {}): Step =>
  (sandbox) =>
    writeRules(sandbox, rules, options);

/** Removes all rules of iptables-nft and nftables, as the restart of a firewall service does. */
export const flush: Step = async (sandbox) => {
  await sandbox.exec('pod', 'nft', ['flush', 'ruleset']);
};

/** ztunnel opens its sockets in the pod, on all addresses of the pod's families. */
export const openZtunnel: Step = (sandbox) =>
  listen(sandbox, 'pod', { ...everybody(sandbox), ...ztunnelPorts, manner: 'silent' });

export const listenInPod =
  (port: number, manner: Listening['manner'] = 'silent'): Step =>
  (sandbox) =>
    listen(sandbox, 'pod', { ...everybody(sandbox), tcp: [port], manner });

/** A host outside of the pod has the target's addresses and answers in the given manner. */
export const answerOutside =
  (manner: Listening['manner']): Step =>
  async (sandbox) => {
    const addresses = sandbox.familyList.map((family) => withPrefix(family, outsideAddress[family], 'host'));
    await sandbox.ip('node', ...addresses.map((address) => `addr add ${address} dev lo`));
    await listen(sandbox, 'node', { ...everybody(sandbox), tcp: [1404], manner });
  };

const everybody = (sandbox: Sandbox): { host: string } => ({
  host: sandbox.families === 'ipv4' ? '0.0.0.0' : '::',
});

/** The node's end of the pod's link loses its addresses, so nothing answers for the gateway. */
export const silenceGateway: Step = async (sandbox) => {
  await sandbox.ip('node', 'addr flush dev pod0');
};

/** `lo` is down, as if the plugin `loopback` had not run, so redirected connections cannot work. */
export const downLo: Step = async (sandbox) => {
  await sandbox.ip('pod', 'link set lo down');
};

export const switchOffIPv6: Step = async (sandbox) => {
  await sandbox.exec('pod', 'sh', ['-c', 'echo 1 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6']);
};

/** The node drops everything from the pod except ARP and neighbour discovery. */
export const dropEverything: Step = async (sandbox) => {
  const rules = `table netdev dropping {
    chain from_pod {
      type filter hook ingress device "pod0" priority 0; policy drop;
      ether type arp accept
      icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    }
  }
  `;
  await sandbox.exec('node', 'nft', ['-f', '-'], rules);
};

/** The node redirects connections that leave the pod back to a port of the pod, with the node's source address. */
export const leadBack =
  (port: number): Step =>
  async (sandbox) => {
    const lead = sandbox.familyList.map((family) => {
      const words = family === 'ipv4' ? `ip to ${podAddress.ipv4}:` : `ip6 to [${podAddress.ipv6}]:`;
      return `iifname "pod0" tcp dport 1404 dnat ${words}${port}`;
    });
    const rules = `table inet hairpin {
      chain in { type nat hook prerouting priority -100; ${lead.join('; ')}; }
      chain out { type nat hook postrouting priority 100; oifname "pod0" masquerade; }
    }
    `;
    await sandbox.exec('node', 'nft', ['-f', '-'], rules);
    const forward = '/proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding';
    await sandbox.exec('node', 'sh', ['-c', `echo 1 | tee ${forward}`]);
  };

/** A router on the path reports that it has no route, as many routers do for documentation ranges. */
export const refuseByRouter: Step = async (sandbox) => {
  const rules = `table inet router {
    chain from_pod {
      type filter hook prerouting priority 0; policy accept;
      meta l4proto tcp reject with icmpx type no-route
    }
  }
  `;
  await sandbox.exec('node', 'nft', ['-f', '-'], rules);
};

/** A rule replaces the source address of every packet with that of the outgoing interface, also on `lo`. */
export const masquerade: Step = async (sandbox) => {
  const rules = `table inet masquerading {
    chain out { type nat hook postrouting priority 100; masquerade; }
  }
  `;
  await sandbox.exec('pod', 'nft', ['-f', '-'], rules);
};

/** The pod gets another pod's addresses instead of its own. Its routes stay. */
export const exchangeAddress: Step = async (sandbox) => {
  const lines = sandbox.familyList.flatMap((family) => [
    `addr add ${withPrefix(family, otherPodAddress[family], 'host')} dev eth0`,
    `addr del ${withPrefix(family, podAddress[family], 'host')} dev eth0`,
  ]);
  await sandbox.ip('pod', ...lines);
};

export const restoreAddress: Step = async (sandbox) => {
  const lines = sandbox.familyList.map(
    (family) => `addr add ${withPrefix(family, podAddress[family], 'host')} dev eth0`,
  );
  await sandbox.ip('pod', ...lines);
};

export const downSecondInterface: Step = async (sandbox) => {
  await sandbox.ip('pod', 'link set net1 down');
};

/** Adds the second interface, as Multus does. With an empty object, the interface has no address. */
export const addSecondInterface =
  (addresses: Partial<Record<Family, string>> = secondAddress): Step =>
  async (sandbox) => {
    await sandbox.ip(
      'node',
      `link add name second0 type veth peer name net1 netns ${sandbox.pod}`,
      'link set second0 up',
    );
    const lines = sandbox.familyList.flatMap((family) => {
      const address = addresses[family];
      if (address === undefined) return [];
      return `addr add ${withPrefix(family, address, 'subnet')} dev net1${family === 'ipv6' ? ' nodad' : ''}`;
    });
    await sandbox.ip('pod', 'link set net1 up', ...lines);
  };

/** Moves the pod's interface to the node, so that the pod has only `lo`. */
export const takeInterface: Step = async (sandbox) => {
  await sandbox.ip('pod', `link set eth0 netns ${sandbox.node}`);
};

/** Moves the interface into the pod, and then adds its addresses and routes. */
export const giveInterface: Step = async (sandbox) => {
  await sandbox.ip('node', `link set eth0 netns ${sandbox.pod}`);
  await sandbox.connectPod();
};

/** The annotation `network-status` as Multus writes it. @param second absent if Multus added no interface */
export function networkStatusOf(
  families: Families,
  first: Record<Family, string>,
  second?: Record<Family, string>,
): string {
  const ips = (addresses: Record<Family, string>): string[] =>
    familiesOf(families).map((family) => addresses[family]);
  return JSON.stringify([
    { name: 'primary', interface: 'eth0', ips: ips(first), default: true, dns: {} },
    ...(second ? [{ name: `${podNamespace}/storage`, interface: 'net1', ips: ips(second), dns: {} }] : []),
  ]);
}
