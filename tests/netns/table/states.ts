import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../support/run.ts';
import {
  type Family,
  gatewayAddress,
  otherPodAddress,
  podAddress,
  secondAddress,
  standInGateway,
  withPrefix,
} from '../harness/addresses.ts';
import { addNamespace, removeNamespace } from '../harness/namespaces.ts';
import type { Shape } from '../harness/shape.ts';
import type { Step } from './plan.ts';

/* States of the network between pod and node: whether the network works, and the expected results of the checks. */

const node =
  (...lines: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.ip('node', ...lines));
const pod =
  (...lines: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.ip('pod', ...lines));
const filter =
  (where: 'pod' | 'node', ...rules: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.exec(where, 'nft', ['-f', '-'], `table inet state {\n${rules.join('\n')}\n}\n}\n`));
const setting =
  (path: string, value: number): Step =>
  async (sandbox) =>
    void (await sandbox.exec('node', 'sh', ['-c', `echo ${value} > /proc/sys/net/${path}`]));
const all =
  (...steps: Step[]): Step =>
  async (sandbox) => {
    for (const step of steps) await step(sandbox);
  };

/** The node forwards packets to a network that does not answer. */
const forwarding = all(
  node(
    'link add uplink type veth peer name fabric',
    'link set fabric up',
    'link set uplink up',
    'addr add 192.168.60.2/24 dev uplink',
    'addr add fd00:192:168:60::2/64 dev uplink nodad',
    'route replace default via 192.168.60.1 dev uplink',
    'route del blackhole ::/0',
    'route add default via fd00:192:168:60::1 dev uplink',
  ),
  setting('ipv4/ip_forward', 1),
  setting('ipv6/conf/all/forwarding', 1),
);

/** The node drops what the pod sends, except ARP and neighbour discovery, as if no program handled the packets. */
const dropIP = filter(
  'node',
  'chain in { type filter hook prerouting priority -300;',
  'iifname pod0 meta l4proto != icmpv6 drop',
  'iifname pod0 icmpv6 type != { nd-neighbor-solicit, nd-neighbor-advert } drop',
);
/** Rejects UDP at the node's end of the link, before the node's network stack. */
const rejecting = `table netdev state { chain in { type filter hook ingress device "pod0" priority 0;
  meta l4proto udp reject with icmpx host-unreachable; }
}
`;
/** The pod's link ends at a router that is not the node. */
const physicalRouter: Step = async (sandbox) => {
  const router = await addNamespace('router');
  sandbox.onRemoval(() => removeNamespace(router));
  await sandbox.ip('node', `link set pod0 netns ${router}`);
  const addresses = [
    `address add ${gatewayAddress.ipv4} dev pod0`,
    // with duplicate address detection, the router would not answer in the first seconds
    `address add ${gatewayAddress.ipv6} dev pod0 nodad`,
  ];
  const routes = Object.values(podAddress).map((address) => `route add ${address} dev pod0`);
  const lines = ['link set lo up', 'link set pod0 up', ...addresses, ...routes];
  await run('ip', ['-netns', router, '-batch', '-'], `${lines.join('\n')}\n`);
};
const noRouteBack = node(`route del ${podAddress.ipv4}`, `route del ${podAddress.ipv6}`);
/** A newer pod on the node has the same addresses, and the node's routes lead to the newer pod. */
const newerDuplicate: Step = async (sandbox) => {
  const other = await addNamespace('other');
  sandbox.onRemoval(() => removeNamespace(other));
  await sandbox.ip(
    'node',
    `link add name pod1 type veth peer name eth0 netns ${other}`,
    'link set pod1 up',
    ...Object.values(podAddress).map((address) => `route replace ${address} dev pod1`),
  );
};
const olderDuplicate = all(
  newerDuplicate,
  node(...Object.values(podAddress).map((address) => `route replace ${address} dev pod0`)),
);
const wrongMac = pod(
  ...Object.values(standInGateway).map(
    (gateway) => `neigh replace ${gateway} lladdr 02:00:00:00:00:99 dev eth0 nud permanent`,
  ),
);
const removeDefaults: Step = async (sandbox) => {
  for (const family of sandbox.familyList)
    await sandbox.exec('pod', 'ip', [family === 'ipv4' ? '-4' : '-6', 'route', 'del', 'default']);
};
const defaultOfType = (type: string): Step =>
  all(removeDefaults, pod(`route add ${type} 0.0.0.0/0`, `route add ${type} ::/0`));
const secondLink: Step = async (sandbox) =>
  void (await sandbox.ip(
    'node',
    `link add name second0 type veth peer name net1 netns ${sandbox.pod}`,
    'link set second0 up',
    'addr add 169.254.172.1/22 dev second0',
  ));
const silentGateway = { ipv4: '10.10.0.1', ipv6: 'fd00:10:10::1' };
/** Adds a second interface with a silent gateway and a default route with this metric. The first route has 100. */
const secondDefault = (metric: number): Step =>
  all(secondLink, removeDefaults, (sandbox) =>
    pod(
      'link set net1 up',
      ...sandbox.familyList.flatMap((family) => [
        `addr add ${withPrefix(family, secondAddress[family], 'subnet')} dev net1`,
        `route add default via ${gatewayAddress[family]} dev eth0 metric 100`,
        `route add default via ${silentGateway[family]} dev net1 metric ${metric}`,
      ]),
    )(sandbox),
  );
/** The default route leads to an unused address. Routes for the validator's outside addresses lead to the node. */
const deadDefault: Step = pod(
  `route add 192.0.2.0/24 via ${gatewayAddress.ipv4} dev eth0`,
  `route add 2001:db8::/32 via ${gatewayAddress.ipv6} dev eth0`,
  'route add 10.244.1.99 dev eth0',
  'route add fd00:10:244:1::99 dev eth0',
  'route replace default via 10.244.1.99 dev eth0',
  'route replace default via fd00:10:244:1::99 dev eth0',
);
/** Rules that drop what the pod sends, except answers and neighbour discovery. */
const denyEgress = [
  'ct state established,related accept',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
  'iifname pod0 drop',
];
/** Uses up the node's limit of ICMP errors for the pod: six messages, then one per second. */
const limited: Step = async (sandbox) => {
  const burst = 'for n in 1 2 3 4 5 6 7; do printf x > /dev/udp/$0/9; done 2> /dev/null || true';
  for (const address of Object.values(gatewayAddress))
    await sandbox.exec('pod', 'bash', ['-c', burst, address]);
};

/** Cilium's device has the gateway's address, and answers to pods are routed there, but no program handles them. */
const deadHost = (family: Family): Step =>
  node(
    'link add cilium_host type veth peer name cilium_net',
    'link set cilium_host up',
    'link set cilium_net up',
    'addr flush dev pod0',
    `addr add ${withPrefix(family, gatewayAddress[family], 'host')} dev cilium_host`,
    `route replace ${podAddress[family]} dev cilium_host`,
  );
const egressIPv4 = pod(
  'link set net1 up',
  'addr add 169.254.172.2/22 dev net1',
  'route add default via 169.254.172.1 dev net1',
);

const cilium: Partial<Shape> = { gateway: 'by-link-route' };
const aws: Partial<Shape> = { gateway: 'stand-in' };
const ciliumIPv4: Partial<Shape> = { ...cilium, families: 'ipv4' };
const ciliumIPv6: Partial<Shape> = { ...cilium, families: 'ipv6' };
const awsIPv4: Partial<Shape> = { ...aws, families: 'ipv4' };
const awsIPv6: Partial<Shape> = { ...aws, families: 'ipv6' };
const nothing: Step = () => {};
const passed = 'passed';
/** The result if a host other than the node answers, such as a router. */
export const noted = 'passed with a note';
/** A broken state in which the round trip gets no answer. */
const broken = { works: false, roundTrip: 'node-silent' } as const;
const lost = { ...broken, address: 'address-missing', gateway: 'address-missing' } as const;
const silent = { ...broken, gateway: 'gateway-silent' } as const;
const noDefault = { ...broken, gateway: 'no-default-route' } as const;
const correct = { works: true, roundTrip: passed } as const;
export interface State {
  what: string;
  shape: Partial<Shape>;
  step: Step;
  /** The truth: whether a connection from the node to the pod works. */
  works: boolean;
  /** The result of the check for each family; by default `passed`. */
  address?: string;
  gateway?: string;
  roundTrip: string;
  /** Whether a program in the pod can connect to the node if the kernel chooses the source address. */
  connects?: boolean;
}

const state = (
  what: string,
  shape: Partial<Shape>,
  step: Step,
  said: Omit<State, 'what' | 'shape' | 'step'>,
): State => ({ what, shape, step, ...said });

export const states: State[] = [
  state('Cilium, correct', cilium, nothing, correct),
  state('AWS VPC CNI, correct', aws, nothing, correct),
  state('the node has other addresses than status.hostIPs', cilium, node('addr flush dev lo scope global'), {
    ...correct,
    roundTrip: noted,
  }),
  state('a physical router is the gateway (macvlan)', cilium, physicalRouter, {
    ...broken,
    roundTrip: noted,
  }),
  state(
    'the node drops what is for itself, and forwards',
    aws,
    all(forwarding, filter('node', 'chain in { type filter hook input priority 0;', ...denyEgress)),
    correct,
  ),
  // the limit allows one message per second, and one message answers the proofs of all profiles
  state("the node's ICMP limit is used up", cilium, limited, correct),
  state('a newer pod with the address of another', aws, olderDuplicate, correct),
  state('a second default route with a higher metric', cilium, secondDefault(200), correct),
  state(
    'the kernel would send from another address, IPv4',
    ciliumIPv4,
    pod(
      'addr add 10.77.0.9 dev lo',
      `route replace ${gatewayAddress.ipv4} dev eth0 src 10.77.0.9`,
      `route replace default via ${gatewayAddress.ipv4} dev eth0 src 10.77.0.9`,
    ),
    correct,
  ),
  state(
    'a blackhole route for the addresses of documentation',
    cilium,
    pod('route add blackhole 192.0.2.0/24', 'route add blackhole 2001:db8::/32'),
    { ...correct, connects: true },
  ),
  state(
    'a route for the addresses of documentation, and the default gateway does not answer',
    cilium,
    all(forwarding, deadDefault),
    { ...broken, gateway: 'gateway-silent', connects: false },
  ),
  state('AWS VPC CNI, IPv6 with egress by IPv4', awsIPv6, all(secondLink, egressIPv4), correct),
  state(
    'default-deny in both directions',
    cilium,
    filter(
      'node',
      'chain to_pod { type filter hook forward priority 0;',
      'oifname pod0 ct state new drop',
      '}',
      'chain in { type filter hook prerouting priority 0;',
      ...denyEgress,
    ),
    { works: true, roundTrip: 'node-silent' },
  ),
  state(
    'a rule of the pod drops what it begins',
    aws,
    filter(
      'pod',
      'chain out { type filter hook output priority 0;',
      'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
      'ct state new drop',
    ),
    { works: true, gateway: 'send-refused', roundTrip: 'send-refused' },
  ),
  state(
    'the node writes no ICMP',
    aws,
    filter(
      'node',
      'chain out { type filter hook output priority 0;',
      'icmp type { destination-unreachable, time-exceeded } drop',
      'icmpv6 type { destination-unreachable, time-exceeded } drop',
    ),
    { works: true, roundTrip: 'node-silent' },
  ),
  state('answers end at a device, IPv4', ciliumIPv4, deadHost('ipv4'), broken),
  state(
    'no program at all, and arp_ignore is 1, IPv4',
    ciliumIPv4,
    all(deadHost('ipv4'), setting('ipv4/conf/all/arp_ignore', 1)),
    silent,
  ),
  state('no program at all, IPv6', ciliumIPv6, deadHost('ipv6'), silent),
  state('neighbours are answered, and IP is dropped', cilium, dropIP, broken),
  state(
    'every ARP request is answered, and IP is dropped',
    awsIPv4,
    all(forwarding, setting('ipv4/conf/pod0/proxy_arp', 1), pod('neigh flush all nud permanent'), dropIP),
    broken,
  ),
  state('no route back, gateway answers', cilium, noRouteBack, broken),
  state('no route back, permanent neighbour', aws, noRouteBack, broken),
  state(
    "no route back, another interface is in the node's network, IPv4 (Multus)",
    awsIPv4,
    all(
      secondLink,
      pod('link set net1 up', 'addr add 192.168.50.77/24 dev net1'),
      node('route add 192.168.50.0/24 dev second0', `route del ${podAddress.ipv4}`),
    ),
    broken,
  ),
  state(
    'no route back, a filter at the link answers "host unreachable"',
    aws,
    all(noRouteBack, (sandbox) => sandbox.exec('node', 'nft', ['-f', '-'], rejecting).then(() => {})),
    broken,
  ),
  state('a wrong permanent neighbour', aws, wrongMac, broken),
  state('the older of two pods with one address', aws, newerDuplicate, broken),
  state('no default route', { ...aws, defaultRoute: false }, nothing, noDefault),
  ...['blackhole', 'unreachable', 'prohibit'].map(
    (type): State => ({
      what: 'a default route of type blackhole, unreachable or prohibit',
      shape: aws,
      step: defaultOfType(type),
      ...noDefault,
    }),
  ),
  // only IPv4: with IPv6, the kernel falls back to the gateway that answers (`rt6_select` of net/ipv6/route.c)
  state(
    'a second default route, with a lower metric and a silent gateway, IPv4',
    ciliumIPv4,
    secondDefault(50),
    silent,
  ),
  state('the permanent neighbour is gone (AWS)', aws, pod('neigh flush all nud permanent'), silent),
  // within a second, the kernel reports to the pod's end that the link has lost its carrier
  state(
    "the node's end of the link is down (AWS)",
    aws,
    all(node('link set pod0 down'), () => sleep(1200)),
    { ...broken, address: 'address-missing' },
  ),
  state("the node's end of the link is deleted (AWS)", aws, node('link del pod0'), lost),
  state("the pod's link is down (AWS)", aws, pod('link set eth0 down'), lost),
  state('no address, IPv4 (AWS)', awsIPv4, pod('addr flush dev eth0'), lost),
  state(
    'the addresses of another pod (AWS: podIPs of another sandbox)',
    { ...aws, podAddress: otherPodAddress },
    nothing,
    { ...broken, address: 'address-missing' },
  ),
  state(
    'a rule of the pod refuses what it sends',
    cilium,
    filter(
      'pod',
      'chain out { type filter hook output priority 0;',
      'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
      'reject with icmpx port-unreachable',
    ),
    { ...broken, gateway: 'send-refused', roundTrip: 'send-refused' },
  ),
];
