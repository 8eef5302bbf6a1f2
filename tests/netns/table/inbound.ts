import { otherPodAddress, podAddress } from '../harness/addresses.ts';
import { dialFrom } from '../harness/dial.ts';
import { type PodSpecimen, specimens } from '../harness/pods.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import type { Shape } from '../harness/shape.ts';
import { ambient } from '../rules/ambient.ts';
import { istio } from '../rules/istio.ts';
import { linkerd } from '../rules/linkerd.ts';
import type { Step } from './plan.ts';
import { flush, openZtunnel, write } from './steps.ts';

/* States of a pod whose witness is the kubelet, with the expected results. */

export const plain: PodSpecimen = { profile: 'seen' };
export const linkerdPod: PodSpecimen = { ...specimens.linkerd, profile: 'linkerd.seen' };
export const istioPod: PodSpecimen = { ...specimens.istio, profile: 'istio.seen' };

const rule =
  (where: 'pod' | 'node', ...lines: string[]): Step =>
  async (sandbox) =>
    void (await sandbox.exec(where, 'nft', ['-f', '-'], `table inet state {\n${lines.join('\n')}\n}\n}\n`));
const noRouteBack: Step = (sandbox) =>
  void sandbox.ip('node', ...sandbox.familyList.map((family) => `route del ${podAddress[family]}`));
/** Runs a command of iptables in the pod's table nat, for both families. */
const inPod =
  (command: string): Step =>
  async (sandbox) => {
    for (const program of ['iptables', 'ip6tables'])
      await sandbox.exec('pod', `${program}-nft`, ['-t', 'nat', ...command.split(' ')]);
  };
/** Adds the rule of linkerd's `skip-subnets`, by which connections from the subnet are not redirected. */
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
/** Gives the node the address to which Istio's node agent translates the source of the kubelet's probes. */
const probeAddress = hasAddress('169.254.7.127');
/** Drops what the pod sends, except answers: as under a NetworkPolicy that denies all, only the node can connect. */
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
  steps: Step[];
  /** The port at which the kubelet's connection arrives, or the reason of the failure. */
  expected: number | string;
  shape?: Partial<Shape>;
  /** A step that happens while the validator waits for the kubelet, and its time in milliseconds. */
  late?: { after: number; step: Step };
  /** The kubelet dials for the first time after this many milliseconds. */
  dialsFrom?: number;
  /** The node's address from which the kubelet dials, if it is not the usual one. */
  from?: string;
}

type More = Omit<InboundState, 'what' | 'pod' | 'steps' | 'expected'>;

const state = (
  what: string,
  pod: PodSpecimen,
  steps: Step[],
  expected: number | string,
  more: More = {},
): InboundState => ({ what, pod, steps, expected, ...more });

const ipv6: More = { shape: { families: 'ipv6' } };
const ofLinkerd = write(linkerd());
const ofIstio = write(istio());
const annotated = (pod: PodSpecimen, annotations: Record<string, string>): PodSpecimen => ({
  ...pod,
  annotations: { ...pod.annotations, ...annotations },
});
const skipping = (subnets: string): PodSpecimen =>
  annotated(linkerdPod, { 'config.linkerd.io/skip-subnets': subnets });
/** A state, and the same state without the inbound rules. */
const withAndWithoutInbound = (
  what: string,
  pod: PodSpecimen,
  steps: Step[],
  [expected, flushed]: [number, number | string],
): InboundState[] => [
  state(what, pod, steps, expected),
  state(`${what}, PREROUTING flushed`, pod, [...steps, flushInbound], flushed),
];
const lost = 'inbound-not-redirected';

export const inboundStates: InboundState[] = [
  state('a correct pod', plain, [], 14_040),
  state('a correct pod of IPv6', plain, [], 14_040, ipv6),
  state('linkerd, and a policy denies all but the node', linkerdPod, [ofLinkerd, denyAll], 4143),
  ...withAndWithoutInbound('linkerd', linkerdPod, [ofLinkerd], [4143, lost]),
  ...withAndWithoutInbound('Istio', istioPod, [ofIstio], [15_006, lost]),
  state('linkerd, IPv6', linkerdPod, [ofLinkerd], 4143, ipv6),
  state(
    'linkerd, another inbound port than that of the proxy',
    linkerdPod,
    [write(linkerd({ inbound: 4999 }))],
    'not-reached',
  ),
  ...withAndWithoutInbound(
    'linkerd, skip-subnets with the node not in it',
    skipping('172.16.0.0/12,192.168.51.0/24'),
    [ofLinkerd, skipSource('172.16.0.0/12'), skipSource('192.168.51.0/24')],
    [4143, lost],
  ),
  ...withAndWithoutInbound(
    'linkerd, skip-subnets with the node in it',
    skipping('192.168.50.0/24'),
    [ofLinkerd, skipSource('192.168.50.0/24')],
    [14_040, 14_040],
  ),
  // the kubelet may dial from the gateway's or from the node's address, so both results are accepted
  state(
    'linkerd, skip-subnets with the gateway in it, and not the node',
    skipping('10.0.0.0/8'),
    [ofLinkerd, skipSource('10.0.0.0/8')],
    4143,
  ),
  ...withAndWithoutInbound(
    'Istio, excludeInterfaces eth0',
    annotated(istioPod, { 'traffic.sidecar.istio.io/excludeInterfaces': 'eth0' }),
    [ofIstio, inPod('-I PREROUTING -i eth0 -j RETURN')],
    [14_040, 14_040],
  ),
  ...['Istio ambient', 'Istio ambient, PREROUTING flushed'].map((what, index) =>
    state(
      what,
      { ...specimens['istio-ambient'], profile: 'istio-ambient.seen' },
      [write(ambient()), openZtunnel, ...(index > 0 ? [flushInbound] : []), probeAddress],
      14_040,
      { from: '169.254.7.127' },
    ),
  ),
  state('linkerd, no route to the pod', linkerdPod, [ofLinkerd, noRouteBack], 'not-reached'),
  state('linkerd, inbound rules that come a moment late', linkerdPod, [ofLinkerd, flushInbound], 4143, {
    late: { after: 3000, step: (sandbox) => void sandbox.exec('pod', 'sh', ['-c', lateInbound]) },
  }),
  state(
    'linkerd, a peer that dials the pod before the kubelet does',
    linkerdPod,
    [ofLinkerd, (sandbox) => dialEachSecond(sandbox, 2380)],
    4143,
    { dialsFrom: 3000 },
  ),
  state(
    "linkerd, another pod that dials the probe's port before the kubelet does",
    linkerdPod,
    [ofLinkerd, hasAddress(otherPodAddress.ipv4)],
    4143,
    {
      late: {
        after: 1000,
        step: async (sandbox) => {
          const to = { host: podAddress.ipv4, port: 14_040, from: otherPodAddress.ipv4 };
          await dialFrom('node', sandbox, [{ ...to, only: 'connect' }]);
        },
      },
      dialsFrom: 2000,
    },
  ),
  state(
    'linkerd, a node with an address that it has not told the API server',
    linkerdPod,
    [ofLinkerd, hasAddress('198.51.100.9')],
    4143,
    { from: '198.51.100.9' },
  ),
  state(
    "a program of the pod that dials the probe's port before the kubelet does",
    plain,
    [(sandbox) => dialEachSecond(sandbox, 14_040, 'pod')],
    14_040,
    { dialsFrom: 3000 },
  ),
  state('linkerd, all rules flushed before the kubelet comes', linkerdPod, [ofLinkerd], 'not-redirected', {
    late: { after: 1000, step: flush },
    dialsFrom: 4000,
  }),
];

const lateInbound =
  'for it in iptables ip6tables; do $it-nft -t nat -A PREROUTING -j PROXY_INIT_REDIRECT; done';

/** Dials a port of the pod repeatedly, as a peer that waits for the pod would, or a program in the pod. */
async function dialEachSecond(sandbox: Sandbox, port: number, where: 'node' | 'pod' = 'node'): Promise<void> {
  const loop = `while sleep 0.3; do (: < /dev/tcp/${podAddress.ipv4}/${port}) 2> /dev/null; done`;
  void sandbox.exec(where, 'timeout', ['8', 'bash', '-c', loop]).catch(() => {});
}
