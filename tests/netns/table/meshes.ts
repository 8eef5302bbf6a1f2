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
/** A user and a group that are neither those of a mesh nor those of our image. */
const otherUser = { runAsUser: 2000, runAsGroup: 3000 };
const otherRules = { proxyUser: 2000, proxyGroup: 3000 };
const ipv6First = [podAddress.ipv6, podAddress.ipv4];

/** At first, only IPv4 rules exist. They are removed at 2 s, and return at 5 s or never. IPv6 rules appear at 3 s. */
export const halfBreaks = (rules: RuleSet, recovers: boolean, listeners: Step[] = []): Plan => ({
  before: [write(rules, { families: 'ipv4' }), ...listeners],
  while: [
    { after: 2000, step: flush },
    { after: 3000, step: write(rules, { families: 'ipv6' }) },
    ...(recovers ? [{ after: 5000, step: write(rules, { families: 'ipv4' }) }] : []),
  ],
});

/*
 * The proof of a mesh checks its rules, but not addresses, gateways or Multus' networks. It listens itself, since the
 * proxy starts later. linkerd's rule exempts the proxy's user, so the proof runs as another one. Istio's proof stays on
 * `lo`, which needs no route. Only for Istio does the order of the pod's addresses matter.
 */

export const linkerdCells: Cells = {
  'correct rules': { before: [write(linkerd())] },
  'no rules': { fails: 'not-redirected' },
  'no rules, a router refuses': { before: [refuseByRouter], fails: 'not-redirected' },
  'rules flushed': { before: [write(linkerd()), flush], fails: 'not-redirected' },
  'only IPv4 rules on a dual-stack pod': {
    before: [write(linkerd(), { families: 'ipv4' })],
    fails: 'not-redirected (IPv6)',
  },
  'the mesh serves both families, correct rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '[::]:4143' } },
    before: [write(linkerd())],
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '[::]:4143' } },
    before: [write(linkerd(), { families: 'ipv4' })],
    fails: 'not-redirected (IPv6)',
  },
  'wrong port': { before: [write(linkerd({ outbound: 4141 }))], fails: 'not-redirected' },
  'wrong port: that of the other direction': {
    before: [write(linkerd({ outbound: 4143 }))],
    fails: 'not-redirected',
  },
  'the proof runs as the wrong user': {
    before: [write(linkerd())],
    options: { user: 2102 },
    fails: 'wrong-user',
  },
  'rules for another proxy user': {
    before: [write(linkerd({ proxyUser: uninvolvedUser }))],
    fails: 'not-redirected',
  },
  // the proxy has the user and the group of our image, so the webhook must run the proof with others
  'the proxy has other ids, correct rules': {
    pod: {
      annotations: { 'config.linkerd.io/proxy-uid': String(uninvolvedUser) },
      namespaceAnnotations: { 'config.linkerd.io/proxy-gid': String(uninvolvedUser) },
    },
    before: [write(linkerd({ proxyUser: uninvolvedUser, proxyGroup: uninvolvedUser }))],
  },
  'port in use': { before: [write(linkerd()), listenInPod(4140)], fails: 'port-taken' },
  "no default route, only the subnet's": {
    shape: { defaultRoute: false },
    before: [write(linkerd())],
  },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route' },
    before: [write(linkerd())],
  },
  'no default route, no rules': { shape: { defaultRoute: 'services' }, fails: 'not-redirected' },
  'no route at all': { shape: { gateway: 'none' }, before: [write(linkerd())], fails: 'no-route' },
  'correct rules, lo is down': { before: [write(linkerd()), downLo], fails: 'not-redirected' },
  'the target itself answers': { before: [answerOutside('banner')], fails: 'answered-by-someone-else' },
  'the target echoes': { before: [answerOutside('echo')], fails: 'answered-by-someone-else' },
  'the target itself answers, correct rules': {
    before: [write(linkerd()), answerOutside('banner')],
  },
  'the target is an address of the pod': { before: [ownTarget, write(linkerd())] },
  'the target is an address of the pod, no rules': { before: [ownTarget], fails: 'not-redirected' },
  'a MASQUERADE rule in the pod': { before: [write(linkerd()), masquerade] },
  'a MASQUERADE rule in the pod, no rules': {
    before: [masquerade, answerOutside(4140)],
    fails: 'answered-by-someone-else',
  },
  'the target connects back to the pod': { before: [answerOutside(4140)], fails: 'answered-by-someone-else' },
  'the node routes back to the pod': { before: [leadBack(4140)], fails: 'answered-by-someone-else' },
  'rules are written after 3 s': { while: [{ after: 3000, step: write(linkerd()) }] },
  'half breaks at 2 s, the rest appears at 3 s': {
    ...halfBreaks(linkerd(), false),
    fails: 'not-redirected (IPv4)',
  },
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': halfBreaks(linkerd(), true),
  'a policy drops every packet': { before: [write(linkerd()), dropEverything] },
};

export const istioCells: Cells = {
  'correct rules': { before: [write(istio())] },
  'no rules': { fails: 'not-redirected' },
  'rules flushed': { before: [write(istio()), flush], fails: 'not-redirected' },
  // without its dual-stack option, Istio writes only these rules; the proof checks the family that istio-cni chooses
  'only IPv4 rules on a dual-stack pod': { before: [write(istio(), { families: 'ipv4' })] },
  'only IPv4 rules on a dual-stack pod with IPv6 as first address': {
    before: [write(istio(), { families: 'ipv4' })],
    options: { podIPs: ipv6First },
  },
  'the mesh serves both families, correct rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    before: [write(istio())],
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    before: [write(istio(), { families: 'ipv4' })],
    fails: 'not-redirected (IPv6)',
  },
  'wrong port': { before: [write(istio({ inbound: 15_007 }))], fails: 'not-redirected' },
  'wrong port: that of the other direction': {
    before: [write(istio({ inbound: 15_001 }))],
    fails: 'not-redirected',
  },
  // unlike linkerd's proof, this one has to run as the proxy's user, because it tests the proxy's own rule
  'the proof runs as the wrong user': {
    before: [write(istio())],
    options: { user: uninvolvedUser },
    fails: 'wrong-user',
  },
  'rules for another proxy user': {
    before: [write(istio({ proxyUser: 1338 }))],
    fails: 'not-redirected',
  },
  'the proxy has other ids, correct rules': {
    pod: { runAs: otherUser },
    before: [write(istio(otherRules))],
  },
  'the proxy has other ids, rules for the default ids': {
    pod: { runAs: otherUser },
    before: [write(istio())],
    fails: 'not-redirected',
  },
  'port in use': { before: [write(istio()), listenInPod(15_006)], fails: 'port-taken' },
  'no default route, no rules': { shape: { defaultRoute: false }, fails: 'not-redirected' },
  'no route at all': { shape: { gateway: 'none' }, before: [write(istio())] },
  'correct rules, lo is down': { before: [write(istio()), downLo], fails: 'not-redirected' },
  'the target itself answers': { before: [listenInPod(15_002, 'banner')], fails: 'answered-by-someone-else' },
  'the target echoes': { before: [listenInPod(15_002, 'echo')], fails: 'answered-by-someone-else' },
  'the target itself answers, correct rules': {
    before: [write(istio()), listenInPod(15_002, 'banner')],
  },
  'a MASQUERADE rule in the pod': { before: [write(istio()), masquerade] },
  'a MASQUERADE rule in the pod, no rules': {
    before: [masquerade, listenInPod(15_002, 15_006)],
    fails: 'answered-by-someone-else',
  },
  'the target connects back to the pod': {
    before: [listenInPod(15_002, 15_006)],
    fails: 'answered-by-someone-else',
  },
  'rules are written after 3 s': { while: [{ after: 3000, step: write(istio()) }] },
  'half breaks at 2 s, the rest appears at 3 s': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    ...halfBreaks(istio(), false),
    fails: 'not-redirected (IPv4)',
  },
  'a policy drops every packet': { before: [write(istio()), dropEverything] },
};
