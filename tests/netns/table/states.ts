import {
  gatewayAddress,
  podAddress,
  secondAddress,
  standInGateway,
  withPrefix,
} from '../harness/addresses.ts';
import { addNamespace, removeNamespace } from '../harness/namespaces.ts';
import type { Shape } from '../harness/shape.ts';
import type { Step } from './plan.ts';

/* States of the way between pod and node, with the truth and what each check says: rows of the page. */

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

/** The node forwards to a network that does not answer. */
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

/** No program takes what the pod sends; only neighbours are answered. */
const dropIP = filter(
  'node',
  'chain in { type filter hook prerouting priority -300;',
  'iifname pod0 meta l4proto != icmpv6 drop',
  'iifname pod0 icmpv6 type != { nd-neighbor-solicit, nd-neighbor-advert } drop',
);
const noRouteBack = node(`route del ${podAddress.ipv4}`, `route del ${podAddress.ipv6}`);
/** Another pod of the node has the same addresses, and the node's routes lead to it. */
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
const silentGateway = { ipv4: '10.10.0.1', ipv6: 'fd00:10:10::1' };
/** A second interface whose gateway does not answer, with a default route of this metric; the first one's is 100. */
const secondDefault = (metric: number): Step =>
  all(
    async (sandbox) =>
      void (await sandbox.ip(
        'node',
        `link add name second0 type veth peer name net1 netns ${sandbox.pod}`,
        'link set second0 up',
      )),
    removeDefaults,
    (sandbox) =>
      pod(
        'link set net1 up',
        ...sandbox.familyList.flatMap((family) => [
          `addr add ${withPrefix(family, secondAddress[family], 'subnet')} dev net1`,
          `route add default via ${gatewayAddress[family]} dev eth0 metric 100`,
          `route add default via ${silentGateway[family]} dev net1 metric ${metric}`,
        ]),
      )(sandbox),
  );
/** What the pod begins is dropped, but not its answers and what neighbours need. */
const denyEgress = [
  'ct state established,related accept',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
  'iifname pod0 drop',
];
/** The node's limit for the pod is used up: six messages, then one a second. */
const limited: Step = async (sandbox) => {
  const burst = 'for n in 1 2 3 4 5 6 7; do printf x > /dev/udp/$0/9; done 2> /dev/null || true';
  for (const address of Object.values(gatewayAddress))
    await sandbox.exec('pod', 'bash', ['-c', burst, address]);
};

const cilium: Partial<Shape> = { gateway: 'by-link-route' };
const aws: Partial<Shape> = { gateway: 'stand-in' };
const passed = 'passed';
/** A broken state in which the round trip is silent. */
const broken = { works: false, roundTrip: 'node-silent' } as const;
const correct = { works: true, roundTrip: passed } as const;

/** A state, how it is made, and what is said of it. */
export interface State {
  what: string;
  /** The states of real networks that it stands for, as they were measured. */
  real?: string;
  shape: Partial<Shape>;
  step: Step;
  /** The truth. */
  works: boolean;
  /** Of both families; default: passed. */
  address?: string;
  gateway?: string;
  roundTrip: string;
}

export const states: State[] = [
  { what: 'Cilium, correct', shape: cilium, step: () => {}, ...correct },
  { what: 'AWS VPC CNI, correct', shape: aws, step: () => {}, ...correct },
  {
    what: 'only the gateway answers, because the node has other addresses than status.hostIPs',
    shape: cilium,
    step: node('addr flush dev lo scope global'),
    ...correct,
  },
  {
    what: 'the node drops what is for itself, and forwards',
    shape: aws,
    step: all(forwarding, filter('node', 'chain in { type filter hook input priority 0;', ...denyEgress)),
    ...correct,
  },
  {
    what: 'FORWARD DROP',
    shape: aws,
    step: all(forwarding, filter('node', 'chain out { type filter hook forward priority 0; policy drop;')),
    ...correct,
  },
  // one message a second: the profiles share it
  { what: "the node's ICMP limit is used up", shape: cilium, step: limited, ...correct },
  { what: 'a newer pod with the address of another', shape: aws, step: olderDuplicate, ...correct },
  {
    what: 'a second default route with a higher metric',
    shape: cilium,
    step: secondDefault(200),
    ...correct,
  },
  {
    what: 'a policy denies all that the pod begins',
    shape: cilium,
    step: filter('node', 'chain in { type filter hook prerouting priority 0;', ...denyEgress),
    works: true,
    roundTrip: 'node-silent',
  },
  {
    what: 'the node writes no ICMP',
    shape: aws,
    step: filter(
      'node',
      'chain out { type filter hook output priority 0;',
      'icmp type { destination-unreachable, time-exceeded } drop',
      'icmpv6 type { destination-unreachable, time-exceeded } drop',
    ),
    works: true,
    roundTrip: 'node-silent',
  },
  // Cilium without a program on cilium_host, a pod that its endpoint map lacks, masquerading without programs
  {
    what: 'neighbours are answered, and IP is dropped',
    real: 'Cilium: no program on cilium_host, with its own or delegated IPAM; no program at all with IPv4; the pod is missing in the endpoint map; masquerading without programs on the pods',
    shape: cilium,
    step: dropIP,
    ...broken,
  },
  {
    what: 'every ARP request is answered, and IP is dropped',
    shape: { ...aws, families: 'ipv4' },
    step: all(
      forwarding,
      setting('ipv4/conf/pod0/proxy_arp', 1),
      pod('neigh flush all nud permanent'),
      dropIP,
    ),
    ...broken,
  },
  {
    what: 'no route back, gateway answers',
    real: 'Cilium: a delegated range without a route on the node',
    shape: cilium,
    step: noRouteBack,
    ...broken,
  },
  {
    what: 'no route back, permanent neighbour',
    real: 'AWS: the node lost its route to the pod',
    shape: aws,
    step: noRouteBack,
    ...broken,
  },
  {
    what: 'a wrong permanent neighbour',
    real: 'AWS: a wrong MAC address',
    shape: aws,
    step: wrongMac,
    ...broken,
  },
  {
    what: 'the older of two pods with one address',
    real: 'AWS: also after ipamd restarted',
    shape: aws,
    step: newerDuplicate,
    ...broken,
  },
  {
    what: 'no default route',
    real: 'AWS',
    shape: { ...aws, defaultRoute: false },
    step: () => {},
    ...broken,
    gateway: 'no-default-route',
  },
  {
    what: 'neither default nor link route',
    real: 'AWS',
    shape: { ...aws, defaultRoute: false },
    step: pod(`route del ${standInGateway.ipv4}`),
    ...broken,
    gateway: 'no-default-route',
  },
  ...['blackhole', 'unreachable', 'prohibit'].map(
    (type): State => ({
      what: `a default route of type ${type}`,
      shape: aws,
      step: defaultOfType(type),
      ...broken,
      gateway: 'no-default-route',
    }),
  ),
  {
    // IPv6 leaves such a gateway for one that answers: `rt6_select` of net/ipv6/route.c
    what: 'a second default route with a lower metric, whose gateway is silent, IPv4',
    shape: { ...cilium, families: 'ipv4' },
    step: secondDefault(50),
    ...broken,
    gateway: 'gateway-silent',
  },
  {
    what: 'a rule of the pod refuses what it sends',
    shape: cilium,
    step: filter(
      'pod',
      'chain out { type filter hook output priority 0;',
      'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
      'reject with icmpx port-unreachable',
    ),
    ...broken,
    gateway: 'send-refused',
    roundTrip: 'send-refused',
  },
];
