import { podAddress } from '../harness/addresses.ts';
import type { RuleSet } from '../rules/backends.ts';
import { istio } from '../rules/istio.ts';
import { linkerd } from '../rules/linkerd.ts';
import type { Cells, Plan, Step } from './plan.ts';
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
  'correct rules': { before: [write(linkerd())], ends: 0 },
  'no rules': { ends: 95 },
  'no rules, a router refuses': { before: [refuseByRouter], ends: 95 },
  'rules flushed': { before: [write(linkerd()), flush], ends: 95 },
  'only IPv4 rules on a dual-stack pod': { before: [write(linkerd(), { families: 'ipv4' })], ends: 95 },
  'the mesh serves both families, correct rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '[::]:4143' } },
    before: [write(linkerd())],
    ends: 0,
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '[::]:4143' } },
    before: [write(linkerd(), { families: 'ipv4' })],
    ends: 95,
  },
  'wrong port': { before: [write(linkerd({ outbound: 4141 }))], ends: 95 },
  'wrong port: that of the other direction': {
    before: [write(linkerd({ outbound: 4143 }))],
    ends: 95,
  },
  'the proof runs as the wrong user': {
    before: [write(linkerd())],
    options: { user: 2102 },
    ends: 69,
  },
  'rules for another proxy user': {
    before: [write(linkerd({ proxyUser: uninvolvedUser }))],
    ends: 95,
  },
  // the user and the group of our image: the webhook must use others
  'the proxy has other ids, correct rules': {
    pod: {
      annotations: { 'config.linkerd.io/proxy-uid': String(uninvolvedUser) },
      namespaceAnnotations: { 'config.linkerd.io/proxy-gid': String(uninvolvedUser) },
    },
    before: [write(linkerd({ proxyUser: uninvolvedUser, proxyGroup: uninvolvedUser }))],
    ends: 0,
  },
  'port in use': { before: [write(linkerd()), listenInPod(4140)], ends: 69 },
  "no default route, only the subnet's": {
    shape: { defaultRoute: false },
    before: [write(linkerd())],
    ends: 0,
  },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route' },
    before: [write(linkerd())],
    ends: 0,
  },
  'no default route, no rules': { shape: { defaultRoute: 'services' }, ends: 95 },
  'no route at all': { shape: { gateway: 'none' }, before: [write(linkerd())], ends: 69 },
  'correct rules, lo is down': { before: [write(linkerd()), downLo], ends: 95 },
  'the target itself answers': { before: [answerOutside('banner')], ends: 95 },
  'the target echoes': { before: [answerOutside('echo')], ends: 95 },
  'the target itself answers, correct rules': {
    before: [write(linkerd()), answerOutside('banner')],
    ends: 0,
  },
  'the target is an address of the pod': { before: [ownTarget, write(linkerd())], ends: 0 },
  'the target is an address of the pod, no rules': { before: [ownTarget], ends: 95 },
  'a MASQUERADE rule in the pod': { before: [write(linkerd()), masquerade], ends: 0 },
  'a MASQUERADE rule in the pod, no rules': { before: [masquerade, answerOutside(4140)], ends: 95 },
  'the target connects back to the pod': { before: [answerOutside(4140)], ends: 95 },
  'the node routes back to the pod': { before: [leadBack(4140)], ends: 95 },
  'rules are written after 3 s': { while: [{ after: 3000, step: write(linkerd()) }], ends: 0 },
  'half breaks at 2 s, the rest appears at 3 s': halfBreaks(linkerd(), false),
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': halfBreaks(linkerd(), true),
  'a policy drops every packet': { before: [write(linkerd()), dropEverything], ends: 0 },
};

export const istioCells: Cells = {
  'correct rules': { before: [write(istio())], ends: 0 },
  'no rules': { ends: 95 },
  'rules flushed': { before: [write(istio()), flush], ends: 95 },
  // what Istio itself writes without its dual-stack option: the proof follows the family that istio-cni chooses
  'only IPv4 rules on a dual-stack pod': { before: [write(istio(), { families: 'ipv4' })], ends: 0 },
  'only IPv4 rules on a dual-stack pod with IPv6 as first address': {
    before: [write(istio(), { families: 'ipv4' })],
    options: { podIPs: ipv6First },
    ends: 0,
  },
  'the mesh serves both families, correct rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    before: [write(istio())],
    ends: 0,
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    before: [write(istio(), { families: 'ipv4' })],
    ends: 95,
  },
  'wrong port': { before: [write(istio({ inbound: 15_007 }))], ends: 95 },
  'wrong port: that of the other direction': {
    before: [write(istio({ inbound: 15_001 }))],
    ends: 95,
  },
  // the other way round: the rule that the proof goes through is the proxy's own
  'the proof runs as the wrong user': {
    before: [write(istio())],
    options: { user: uninvolvedUser },
    ends: 69,
  },
  'rules for another proxy user': {
    before: [write(istio({ proxyUser: 1338 }))],
    ends: 95,
  },
  'the proxy has other ids, correct rules': {
    pod: { runAs: otherUser },
    before: [write(istio(otherRules))],
    ends: 0,
  },
  'the proxy has other ids, rules for the default ids': {
    pod: { runAs: otherUser },
    before: [write(istio())],
    ends: 95,
  },
  'port in use': { before: [write(istio()), listenInPod(15_006)], ends: 69 },
  'no default route, no rules': { shape: { defaultRoute: false }, ends: 95 },
  'no route at all': { shape: { gateway: 'none' }, before: [write(istio())], ends: 0 },
  'correct rules, lo is down': { before: [write(istio()), downLo], ends: 95 },
  'the target itself answers': { before: [listenInPod(15_002, 'banner')], ends: 95 },
  'the target echoes': { before: [listenInPod(15_002, 'echo')], ends: 95 },
  'the target itself answers, correct rules': {
    before: [write(istio()), listenInPod(15_002, 'banner')],
    ends: 0,
  },
  'a MASQUERADE rule in the pod': { before: [write(istio()), masquerade], ends: 0 },
  'a MASQUERADE rule in the pod, no rules': { before: [masquerade, listenInPod(15_002, 15_006)], ends: 95 },
  'the target connects back to the pod': { before: [listenInPod(15_002, 15_006)], ends: 95 },
  'rules are written after 3 s': { while: [{ after: 3000, step: write(istio()) }], ends: 0 },
  'half breaks at 2 s, the rest appears at 3 s': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    ...halfBreaks(istio(), false),
  },
  'a policy drops every packet': { before: [write(istio()), dropEverything], ends: 0 },
};
