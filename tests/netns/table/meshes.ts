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
  refuseByRouter,
  switchOffIPv6,
  write,
} from './steps.ts';

const uninvolvedUser = 64_532;
/** A user and a group that are neither those of a mesh nor those of our image. */
const otherUser = { runAsUser: 2000, runAsGroup: 3000 };
const otherRules = { proxyUser: 2000, proxyGroup: 3000 };
const proxyUid = 'config.linkerd.io/proxy-uid';
const proxyGid = 'config.linkerd.io/proxy-gid';
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
 * proxy starts later. linkerd's rule exempts the proxy's user, so the proof runs as another user. Istio's proof uses
 * only `lo`, which needs no route. The order of the pod's addresses matters only for Istio.
 */

export const linkerdCells: Cells = {
  'correct rules': { before: [write(linkerd())] },
  'no rules': { fails: 'not-redirected' },
  'no rules, a router refuses': { before: [refuseByRouter], fails: 'not-redirected' },
  'only IPv4 rules on a dual-stack pod': {
    before: [write(linkerd(), { families: 'ipv4' })],
    fails: 'not-redirected (IPv6)',
  },
  'the mesh serves IPv4 only, only IPv4 rules': {
    pod: { env: { LINKERD2_PROXY_INBOUND_LISTEN_ADDR: '0.0.0.0:4143' } },
    before: [write(linkerd(), { families: 'ipv4' })],
  },
  'IPv6 is switched off in the pod': {
    shape: { families: 'ipv4' },
    before: [switchOffIPv6, write(linkerd())],
  },
  'wrong port': { before: [write(linkerd({ outbound: 4141 }))], fails: 'not-redirected' },
  'wrong port, where a program listens': {
    before: [write(linkerd({ outbound: 4141 })), listenInPod(4141)],
    fails: 'answered-by-someone-else',
    says: /to 192\.0\.2\.2:1404 end at port 4141 in the pod\./,
  },
  'the proof runs as the wrong user': {
    before: [write(linkerd())],
    options: { user: 2102 },
    fails: 'wrong-user',
  },
  'the proof runs in the wrong group': {
    pod: { annotations: { [proxyGid]: '3000' } },
    before: [write(linkerd())],
    options: { user: 3000 },
    fails: 'wrong-user',
    says: / saw this program run as group 3000, which the rule exempts/,
  },
  'rules for another proxy user': {
    before: [write(linkerd({ proxyUser: uninvolvedUser }))],
    fails: 'not-redirected',
  },
  // the proxy has the user and the group of our image, so the webhook must run the proof with other IDs
  'the proxy has other ids, correct rules': {
    pod: {
      annotations: { [proxyUid]: String(uninvolvedUser) },
      namespaceAnnotations: { [proxyGid]: String(uninvolvedUser) },
    },
    before: [write(linkerd({ proxyUser: uninvolvedUser, proxyGroup: uninvolvedUser }))],
  },
  'the pod runs in the exempted group, correct rules': {
    pod: { annotations: { [proxyGid]: '3000' }, runAsUser: 1000, runAsGroup: 3000 },
    before: [write(linkerd({ proxyGroup: 3000 }))],
  },
  'port in use': { before: [write(linkerd()), listenInPod(4140)], fails: 'port-taken' },
  "no default route, only the services'": {
    shape: { defaultRoute: 'services', gateway: 'by-link-route', families: 'ipv4' },
    before: [write(linkerd())],
  },
  'no route at all': { shape: { gateway: 'none' }, before: [write(linkerd())], fails: 'no-route' },
  'correct rules, lo is down': {
    before: [write(linkerd()), downLo],
    fails: 'not-redirected',
  },
  'the target itself answers': {
    before: [answerOutside('banner')],
    fails: 'answered-by-someone-else',
    says: /to 192\.0\.2\.2:1404 that left the pod and was answered\./,
  },
  'the target itself answers, correct rules': {
    before: [write(linkerd()), answerOutside('banner')],
  },
  'a MASQUERADE rule in the pod': { before: [write(linkerd()), masquerade] },
  'a MASQUERADE rule in the pod, no rules': {
    before: [masquerade, answerOutside(4140)],
    fails: 'answered-by-someone-else',
  },
  'the target connects back to the pod': { before: [answerOutside(4140)], fails: 'answered-by-someone-else' },
  'the node routes back to the pod': {
    before: [leadBack(4140)],
    fails: 'answered-by-someone-else',
    says: /to 192\.0\.2\.2:1404 that left the pod and was answered\./,
  },
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
  // without its dual-stack option, Istio writes only IPv4 rules; the proof checks the family that istio-cni chooses
  'only IPv4 rules on a dual-stack pod': {
    before: [write(istio(), { families: 'ipv4' })],
    says: /^istio: redirect IPv4 passed: .* Note: IPv6 was not checked: .* only IPv4 in this pod, /m,
  },
  'only IPv6 rules on a dual-stack pod': {
    before: [write(istio(), { families: 'ipv6' })],
    fails: 'not-redirected',
  },
  'only IPv4 rules on a dual-stack pod with IPv6 as first address': {
    before: [write(istio(), { families: 'ipv4' })],
    options: { podIPs: ipv6First },
  },
  'the mesh serves both families, only IPv4 rules': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    before: [write(istio(), { families: 'ipv4' })],
    fails: 'not-redirected (IPv6)',
  },
  'wrong port': { before: [write(istio({ inbound: 15_007 }))], fails: 'not-redirected' },
  // unlike linkerd's proof, this one has to run as the proxy's user, because it tests the proxy's own rule
  'the proof runs as the wrong user': {
    before: [write(istio())],
    options: { user: uninvolvedUser },
    fails: 'wrong-user',
    says: / saw this program run as user 64532, where the rule is for user 1337/,
  },
  'rules for another proxy user': {
    before: [write(istio({ proxyUser: 1338 }))],
    fails: 'not-redirected',
  },
  'the proxy has other ids, correct rules': {
    pod: { runAs: otherUser },
    before: [write(istio(otherRules))],
  },
  'no ids anywhere': { pod: { runAs: {} }, before: [write(istio())] },
  'port in use': { before: [write(istio()), listenInPod(15_006)], fails: 'port-taken' },
  'no route at all': { shape: { gateway: 'none' }, before: [write(istio())] },
  // only the mesh adds to `lo` the address to which the check connects, so the address is missing here
  'no route at all, IPv6, no rules': {
    shape: { families: 'ipv6', gateway: 'none' },
    fails: 'not-redirected',
  },
  'correct rules, lo is down': { before: [write(istio()), downLo], fails: 'not-redirected' },
  'the target itself answers': {
    before: [listenInPod(15_002, 'banner')],
    fails: 'answered-by-someone-else',
    says: /to 127\.0\.0\.6:15002 end at port 15002 in the pod\./,
  },
  'the target closes at once': {
    before: [listenInPod(15_002, 'close')],
    fails: 'answered-by-someone-else',
    says: / end at port 15002 in the pod\./,
  },
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
    says: / end at port 15002 in the pod\./,
  },
  'rules are written after 3 s': { while: [{ after: 3000, step: write(istio()) }] },
  'half breaks at 2 s, the rest appears at 3 s': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    ...halfBreaks(istio(), false),
    fails: 'not-redirected (IPv4)',
  },
  'a policy drops every packet': { before: [write(istio()), dropEverything] },
};
