import { otherPodAddress, podAddress } from '../harness/addresses.ts';
import { dialFromNode } from '../harness/dial.ts';
import { type PodSpecimen, specimens } from '../harness/pods.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import type { Shape } from '../harness/shape.ts';
import { ambient } from '../rules/ambient.ts';
import { istio } from '../rules/istio.ts';
import { linkerd } from '../rules/linkerd.ts';
import type { Step } from './plan.ts';
import { flush, openZtunnel, write } from './steps.ts';

/* States of a pod with the kubelet as a witness. */

export const plain: PodSpecimen = { profile: 'seen' };
export const linkerdPod: PodSpecimen = { ...specimens.linkerd, profile: 'linkerd.seen' };
export const istioPod: PodSpecimen = { ...specimens.istio, profile: 'istio.seen' };

const rule =
  (where: 'pod' | 'node', ...lines: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.exec(where, 'nft', ['-f', '-'], `table inet state {\n${lines.join('\n')}\n}\n}\n`));
const noRouteBack: Step = (sandbox) =>
  void sandbox.ip('node', ...sandbox.familyList.map((family) => `route del ${podAddress[family]}`));
/** A command of iptables for the pod's table nat, with both families. */
const inPod =
  (command: string): Step =>
  async (sandbox) => {
    for (const program of ['iptables', 'ip6tables'])
      await sandbox.exec('pod', `${program}-nft`, ['-t', 'nat', ...command.split(' ')]);
  };
/** `skip-subnets` of linkerd: connections from there are not redirected. */
const skipSource =
  (subnet: string): Step =>
  async (sandbox) => {
    const program = subnet.includes(':') ? 'ip6tables-nft' : 'iptables-nft';
    const rule = `-I PROXY_INIT_REDIRECT -s ${subnet} -j RETURN`;
    await sandbox.exec('pod', program, ['-t', 'nat', ...rule.split(' ')]);
  };
export const flushInbound = inPod('-F PREROUTING');
const hasAddress =
  (address: string): Step =>
  async (sandbox) =>
    void (await sandbox.ip('node', `addr add ${address}/32 dev lo`));
/** Istio's node agent translates the source of the kubelet's probes. */
const probeAddress = hasAddress('169.254.7.127');
/** Only what the node begins, and its answers: the kubelet is always let through. */
const denyAll = rule(
  'node',
  'chain in { type filter hook prerouting priority -100;',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept',
  'ct state established,related accept',
  'iifname pod0 drop',
);
export interface InboundState {
  what: string;
  pod: PodSpecimen;
  steps?: Step[];
  shape?: Partial<Shape>;
  /** Applied while the kubelet is awaited, after so many milliseconds. */
  late?: { after: number; step: Step };
  /** The first of the kubelet's dials comes after so many milliseconds. */
  dialsFrom?: number;
  /** The port where the kubelet's connection comes, or the reason of the failure. */
  expected: number | string;
  /** The address of the node that dials, if it is not the usual one. */
  from?: string;
}

export const inboundStates: InboundState[] = [
  { what: 'a correct pod', pod: plain, expected: 14_040 },
  { what: 'a correct pod of IPv6', pod: plain, shape: { families: 'ipv6' }, expected: 14_040 },
  {
    what: 'linkerd, and a policy denies all but the node',
    pod: linkerdPod,
    steps: [write(linkerd()), denyAll],
    expected: 4143,
  },
  {
    what: 'linkerd',
    pod: linkerdPod,
    steps: [write(linkerd())],
    expected: 4143,
  },
  {
    what: 'linkerd, another inbound port than that of the proxy',
    pod: linkerdPod,
    steps: [write(linkerd({ inbound: 4999 }))],
    expected: 'not-reached',
  },
  {
    what: 'linkerd, a plugin with another proxy-uid than the pod',
    pod: linkerdPod,
    steps: [write(linkerd({ proxyUser: 1500 }))],
    expected: 4143,
  },
  {
    what: "linkerd, without the proxy's own rule",
    pod: linkerdPod,
    steps: [write(linkerd()), inPod('-D PROXY_INIT_OUTPUT -m owner --uid-owner 2102 -j RETURN')],
    expected: 4143,
  },
  {
    what: "linkerd, skip-outbound-ports with the probe's port",
    pod: { ...linkerdPod, annotations: { 'config.linkerd.io/skip-outbound-ports': '1404,4000-65535' } },
    steps: [write(linkerd({ skipped: '1404,4000:65535' }))],
    expected: 4143,
  },
  ...[
    { nodeIs: 'not in it', subnet: '172.16.0.0/12,192.168.51.0/24', expected: 4143 },
    { nodeIs: 'in it', subnet: '192.168.50.0/24', expected: 14_040 },
  ].flatMap(({ nodeIs, subnet, expected }): InboundState[] => {
    const of = { pod: { ...linkerdPod, annotations: { 'config.linkerd.io/skip-subnets': subnet } } };
    const rules = [write(linkerd()), ...subnet.split(',').map(skipSource)];
    const what = `linkerd, skip-subnets with the node ${nodeIs}`;
    return [
      { ...of, what, steps: rules, expected },
      {
        ...of,
        what: `${what}, PREROUTING flushed`,
        steps: [...rules, flushInbound],
        expected: expected === 4143 ? 'inbound-not-redirected' : expected,
      },
    ];
  }),
  {
    // the kubelet's connection may come from either: both ways are accepted
    what: 'linkerd, skip-subnets with the gateway in it, and not the node',
    pod: { ...linkerdPod, annotations: { 'config.linkerd.io/skip-subnets': '10.0.0.0/8' } },
    steps: [write(linkerd()), skipSource('10.0.0.0/8')],
    expected: 4143,
  },
  {
    what: 'linkerd, skip-subnets with the node in it, IPv6',
    pod: { ...linkerdPod, annotations: { 'config.linkerd.io/skip-subnets': 'fd00:192:168::/48' } },
    steps: [write(linkerd()), skipSource('fd00:192:168::/48')],
    shape: { families: 'ipv6' },
    expected: 14_040,
  },
  ...[
    { device: 'eth0', expected: 14_040 },
    { device: 'net1', expected: 15_006 },
  ].flatMap(({ device, expected }): InboundState[] => {
    const annotations = {
      ...specimens.istio.annotations,
      'traffic.sidecar.istio.io/excludeInterfaces': device,
    };
    const rules = [write(istio()), inPod(`-I PREROUTING -i ${device} -j RETURN`)];
    const what = `Istio, excludeInterfaces ${device}`;
    return [
      {
        what,
        pod: { ...istioPod, annotations },
        steps: rules,
        expected,
      },
      {
        what: `${what}, PREROUTING flushed`,
        pod: { ...istioPod, annotations },
        steps: [...rules, flushInbound],
        expected: device === 'eth0' ? expected : 'inbound-not-redirected',
      },
    ];
  }),
  {
    what: 'linkerd, no outbound rule',
    pod: linkerdPod,
    steps: [write(linkerd()), inPod('-F OUTPUT')],
    expected: 'not-redirected',
  },
  {
    what: 'Istio, no outbound rule',
    pod: istioPod,
    steps: [write(istio()), inPod('-D ISTIO_OUTPUT -j ISTIO_REDIRECT')],
    expected: 15_006,
  },
  {
    what: "Istio, silence where its check of the inbound rule connects to: the kubelet's connection is not taken",
    pod: istioPod,
    steps: [
      write(istio()),
      inPod('-F OUTPUT'),
      rule(
        'pod',
        'chain in { type filter hook input priority 0;',
        'ip daddr 127.0.0.6 drop',
        'ip6 daddr ::6 drop',
      ),
    ],
    expected: 'not-redirected',
  },
  ...[[], [inPod('-F PREROUTING')]].map(
    (steps): InboundState => ({
      what: `Istio ambient${steps.length === 0 ? '' : ', PREROUTING flushed'}`,
      pod: { ...specimens['istio-ambient'], profile: 'istio-ambient.seen' },
      steps: [write(ambient()), openZtunnel, ...steps, probeAddress],
      expected: 14_040,
      from: '169.254.7.127',
    }),
  ),
  {
    what: 'linkerd, IPv6',
    pod: linkerdPod,
    steps: [write(linkerd())],
    shape: { families: 'ipv6' },
    expected: 4143,
  },
  { what: 'Istio', pod: istioPod, steps: [write(istio())], expected: 15_006 },
  {
    what: 'linkerd, PREROUTING flushed',
    pod: linkerdPod,
    steps: [write(linkerd()), flushInbound],
    expected: 'inbound-not-redirected',
  },
  {
    what: 'Istio, PREROUTING flushed',
    pod: istioPod,
    steps: [write(istio()), flushInbound],
    expected: 'inbound-not-redirected',
  },
  {
    what: 'linkerd, no route to the pod',
    pod: linkerdPod,
    steps: [write(linkerd()), noRouteBack],
    expected: 'not-reached',
  },
  {
    what: 'linkerd, inbound rules that come a moment late',
    pod: linkerdPod,
    steps: [write(linkerd()), flushInbound],
    late: {
      after: 3000,
      step: (sandbox) => void sandbox.exec('pod', 'sh', ['-c', lateInbound]),
    },
    expected: 4143,
  },
  {
    what: 'linkerd, a peer that dials the pod before the kubelet does',
    pod: linkerdPod,
    steps: [write(linkerd()), (sandbox) => dialEachSecond(sandbox, 2380)],
    dialsFrom: 3000,
    expected: 4143,
  },
  {
    what: "linkerd, another pod that dials the probe's port before the kubelet does",
    pod: linkerdPod,
    steps: [write(linkerd()), hasAddress(otherPodAddress.ipv4)],
    late: {
      after: 1000,
      step: async (sandbox) => {
        const to = { host: podAddress.ipv4, port: 14_040, from: otherPodAddress.ipv4 };
        await dialFromNode(sandbox, [{ ...to, only: 'connect' }]);
      },
    },
    dialsFrom: 2000,
    expected: 4143,
  },
  {
    what: 'linkerd, a node with an address that it has not told the API server',
    pod: linkerdPod,
    steps: [write(linkerd()), hasAddress('198.51.100.9')],
    from: '198.51.100.9',
    expected: 4143,
  },
  {
    what: "a program of the pod that dials the probe's port before the kubelet does",
    pod: plain,
    steps: [(sandbox) => dialEachSecond(sandbox, 14_040, 'pod')],
    dialsFrom: 3000,
    expected: 14_040,
  },
  {
    what: 'linkerd, all rules flushed before the kubelet comes',
    pod: linkerdPod,
    steps: [write(linkerd())],
    late: { after: 1000, step: flush },
    dialsFrom: 4000,
    expected: 'not-redirected',
  },
];

const lateInbound =
  'for it in iptables ip6tables; do $it-nft -t nat -A PREROUTING -j PROXY_INIT_REDIRECT; done';

/** A peer that waits for the pod, or a program of the pod. */
async function dialEachSecond(sandbox: Sandbox, port: number, where: 'node' | 'pod' = 'node'): Promise<void> {
  const loop = `while sleep 0.3; do (: < /dev/tcp/${podAddress.ipv4}/${port}) 2> /dev/null; done`;
  void sandbox.exec(where, 'timeout', ['8', 'bash', '-c', loop]).catch(() => {});
}
