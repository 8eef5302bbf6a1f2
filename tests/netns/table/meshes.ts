import { podAddress } from '../harness/addresses.ts';
import type { RuleSet } from '../rules/backends.ts';
import { istio } from '../rules/istio.ts';
import { linkerd } from '../rules/linkerd.ts';
import { type Cells, cannot, fails, type Plan, passes, type Step } from './plan.ts';
import {
  answerOutside,
  downLo,
  dropEverything,
  flush,
  leadBack,
  listenInPod,
  masquerade,
  ownTarget,
  refuseByRouter,
  write,
} from './steps.ts';

const uninvolvedUser = 64_532;
/** Neither the usual user of a mesh nor that of our image. */
const otherUser = { runAsUser: 2000, runAsGroup: 3000 };
const otherRules = { proxyUser: 2000, proxyGroup: 3000 };
const ipv6First = [podAddress.ipv6, podAddress.ipv4];

/**
 * Half of the rules are there, break after 2 s, and come back or not; the rest appears after 3 s.
 *
 * @param listeners what else the pod has
 */
export const halfBreaks = (rules: RuleSet, recovers: boolean, listeners: Step[] = []): Plan => ({
  before: [write(rules, { families: 'ipv4' }), ...listeners],
  while: [
    { after: 2000, step: flush },
    { after: 3000, step: write(rules, { families: 'ipv6' }) },
    ...(recovers ? [{ after: 5000, step: write(rules, { families: 'ipv4' }) }] : []),
  ],
  ends: recovers ? 0 : 95,
});

/*
 * The proof of a mesh checks its rules, not addresses, gateways or Multus' networks. It is its own listener, since the
 * proxy starts later. linkerd's rule exempts one user, and the proof runs as neither; Istio's proof stays on `lo`, which
 * needs no route, and the order of addresses matters to it alone.
 */

export const linkerdCells: Cells = {
  'correct rules': passes(write(linkerd())),
  'no rules': fails(),
  'no rules, a router refuses': fails(refuseByRouter),
  'rules flushed': fails(write(linkerd()), flush),
  'only IPv4 rules on a dual-stack pod': fails(write(linkerd(), { families: 'ipv4' })),
  'the mesh serves both families, correct rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '[::]:4143' } },
    ...passes(write(linkerd())),
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '[::]:4143' } },
    ...fails(write(linkerd(), { families: 'ipv4' })),
  },
  'wrong port': fails(write(linkerd({ outbound: 4141 }))),
  'wrong port: that of the other direction': fails(write(linkerd({ outbound: 4143 }))),
  'the proof runs as the wrong user': { ...cannot(write(linkerd())), options: { user: 2102 } },
  'rules for another proxy user': fails(write(linkerd({ proxyUser: uninvolvedUser }))),
  // the user and the group of our image: the webhook must use others
  'the proxy has other ids, correct rules': {
    pod: {
      annotations: { 'config.linkerd.io/proxy-uid': String(uninvolvedUser) },
      namespaceAnnotations: { 'config.linkerd.io/proxy-gid': String(uninvolvedUser) },
    },
    ...passes(write(linkerd({ proxyUser: uninvolvedUser, proxyGroup: uninvolvedUser }))),
  },
  'port in use': cannot(write(linkerd()), listenInPod(4140)),
  "no default route, only the subnet's": { shape: { defaultRoute: false }, ...passes(write(linkerd())) },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route' },
    ...passes(write(linkerd())),
  },
  'no default route, no rules': { shape: { defaultRoute: 'services' }, ends: 95 },
  'no route at all': { shape: { gateway: 'none' }, ...cannot(write(linkerd())) },
  'correct rules, lo is down': fails(write(linkerd()), downLo),
  'the target itself answers': fails(answerOutside('banner')),
  'the target echoes': fails(answerOutside('echo')),
  'the target itself answers, correct rules': passes(write(linkerd()), answerOutside('banner')),
  'the target is an address of the pod': passes(ownTarget, write(linkerd())),
  'the target is an address of the pod, no rules': fails(ownTarget),
  'a MASQUERADE rule in the pod': passes(write(linkerd()), masquerade),
  'a MASQUERADE rule in the pod, no rules': fails(masquerade, answerOutside(4140)),
  'the target connects back to the pod': fails(answerOutside(4140)),
  'the node routes back to the pod': fails(leadBack(4140)),
  'rules are written after 3 s': { while: [{ after: 3000, step: write(linkerd()) }], ends: 0 },
  'half breaks at 2 s, the rest appears at 3 s': halfBreaks(linkerd(), false),
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': halfBreaks(linkerd(), true),
  'a policy drops every packet': passes(write(linkerd()), dropEverything),
};

export const istioCells: Cells = {
  'correct rules': passes(write(istio())),
  'no rules': fails(),
  'rules flushed': fails(write(istio()), flush),
  // what Istio itself writes without its dual-stack option: the proof follows the family that istio-cni chooses
  'only IPv4 rules on a dual-stack pod': passes(write(istio(), { families: 'ipv4' })),
  'only IPv4 rules on a dual-stack pod with IPv6 as first address': {
    ...passes(write(istio(), { families: 'ipv4' })),
    options: { podIPs: ipv6First },
  },
  'the mesh serves both families, correct rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    ...passes(write(istio())),
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    ...fails(write(istio(), { families: 'ipv4' })),
  },
  'wrong port': fails(write(istio({ inbound: 15_007 }))),
  'wrong port: that of the other direction': fails(write(istio({ inbound: 15_001 }))),
  // the other way round: the rule that the proof goes through is the proxy's own
  'the proof runs as the wrong user': { ...cannot(write(istio())), options: { user: uninvolvedUser } },
  'rules for another proxy user': fails(write(istio({ proxyUser: 1338 }))),
  'the proxy has other ids, correct rules': {
    pod: { runAs: otherUser },
    ...passes(write(istio(otherRules))),
  },
  'the proxy has other ids, rules for the default ids': {
    pod: { runAs: otherUser },
    ...fails(write(istio())),
  },
  'port in use': cannot(write(istio()), listenInPod(15_006)),
  'no default route, no rules': { shape: { defaultRoute: false }, ends: 95 },
  'no route at all': { shape: { gateway: 'none' }, ...passes(write(istio())) },
  'correct rules, lo is down': fails(write(istio()), downLo),
  'the target itself answers': fails(listenInPod(15_002, 'banner')),
  'the target echoes': fails(listenInPod(15_002, 'echo')),
  'the target itself answers, correct rules': passes(write(istio()), listenInPod(15_002, 'banner')),
  'a MASQUERADE rule in the pod': passes(write(istio()), masquerade),
  'a MASQUERADE rule in the pod, no rules': fails(masquerade, listenInPod(15_002, 15_006)),
  'the target connects back to the pod': fails(listenInPod(15_002, 15_006)),
  'rules are written after 3 s': { while: [{ after: 3000, step: write(istio()) }], ends: 0 },
  'half breaks at 2 s, the rest appears at 3 s': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    ...halfBreaks(istio(), false),
  },
  'a policy drops every packet': passes(write(istio()), dropEverything),
};
