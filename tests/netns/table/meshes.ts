import { podAddress } from '../harness/addresses.ts';
import { istio } from '../rules/istio.ts';
import { linkerd } from '../rules/linkerd.ts';
import type { Cells } from './plan.ts';
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

const anybody = 65_532;
const noAddress = 'the proof of a mesh looks at its rules, not at the addresses of the pod';
const noMultus = 'the mesh has no interface of its own, and Multus no part in it';
const ownListener = 'the proof is its own listener: the proxy starts later';
export const onlyLo = 'the same as no route at all: the pod has no interface but lo';
const byLo = 'the inbound rule is proved through lo, which needs no route';
const ownByDesign = 'the targets of the inbound rule are on lo by design';
const onePort = 'the proxy has one port for what comes in';
const noGateway = 'a redirected connection never leaves the pod, so no gateway is asked';

/** Neither the usual user of a mesh nor that of our image. */
const otherUser = { runAsUser: 2000, runAsGroup: 3000 };
const otherRules = { proxyUser: 2000, proxyGroup: 3000 };
const ipv6First = [podAddress.ipv6, podAddress.ipv4];

const noLateness = 'the same as rules that come late: plugins write them behind the interface';

/** What says nothing about any mesh. */
export const notOfMeshes = {
  'interface comes 2 s late': noLateness,
  'interface comes 2 s late, gateway does not answer': noGateway,
  'address of another pod': noAddress,
  'network-status late': noMultus,
  'network-status of the sandbox before': noMultus,
  'network-status absent': noMultus,
  'network-status names an interface that is gone': noMultus,
  'network-status leaves the network out': noMultus,
  'network-status leaves the network out, interface down': noMultus,
  'network-status leaves the network out, no interface': noMultus,
  'network-status of the sandbox before leaves the network out, no interface': noMultus,
  'network without addresses, as network-status says': noMultus,
  'network without addresses, network-status late': noMultus,
  'network without addresses, network-status absent': noMultus,
  'gateway does not answer': noGateway,
  'gateway does not answer, others do': noGateway,
};

export const linkerdCells: Cells = {
  ...notOfMeshes,
  'right rules': { before: [write(linkerd())], ends: 0 },
  'no rules': { ends: 95 },
  'no rules, a router refuses': { before: [refuseByRouter], ends: 95 },
  'rules flushed': { before: [write(linkerd()), flush], ends: 95 },
  'only IPv4 rules on a dual-stack pod': { before: [write(linkerd(), { families: 'ipv4' })], ends: 95 },
  'only IPv4 rules on a dual-stack pod, IPv6 is its first address': 'the same, whichever comes first',
  'the mesh serves both families, right rules': {
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
  'wrong port: one of the proxy for the other direction': {
    before: [write(linkerd({ outbound: 4143 }))],
    ends: 95,
  },
  "wrong port: the proxy's for what comes encrypted": onePort,
  'listeners missing': ownListener,
  "proxy's uid skipped: run as the wrong user": {
    before: [write(linkerd())],
    options: { user: 2102 },
    ends: 69,
  },
  "proxy's uid skipped: the rules skip the proof's": {
    before: [write(linkerd({ proxyUser: anybody }))],
    ends: 95,
  },
  // the user and the group of our image: the webhook has to take others
  'the proxy runs as another user and group, right rules': {
    pod: {
      annotations: { 'config.linkerd.io/proxy-uid': String(anybody) },
      namespaceAnnotations: { 'config.linkerd.io/proxy-gid': String(anybody) },
    },
    before: [write(linkerd({ proxyUser: anybody, proxyGroup: anybody }))],
    ends: 0,
  },
  'the proxy runs as another user and group, rules for the usual one':
    'the rule takes everybody but one user, and the proof runs as none of the two',
  'port taken': { before: [write(linkerd()), listenInPod(4140)], ends: 69 },
  'no default route, the subnet only': {
    shape: { defaultRoute: false },
    before: [write(linkerd())],
    ends: 0,
  },
  'no default route, the services only': {
    shape: { defaultRoute: 'services', gateway: 'by-link-route' },
    before: [write(linkerd())],
    ends: 0,
  },
  'no default route, no rules': { shape: { defaultRoute: 'services' }, ends: 95 },
  'no route at all': { shape: { gateway: 'none' }, before: [write(linkerd())], ends: 69 },
  'right rules, lo is down': { before: [write(linkerd()), downLo], ends: 95 },
  'target answers by itself': { before: [answerOutside('banner')], ends: 95 },
  'target sends back what it gets': { before: [answerOutside('echo')], ends: 95 },
  'target answers by itself, right rules': { before: [write(linkerd()), answerOutside('banner')], ends: 0 },
  'target is an address of the pod itself': { before: [ownTarget, write(linkerd())], ends: 0 },
  'target is an address of the pod itself, no rules': { before: [ownTarget], ends: 95 },
  'a MASQUERADE rule in the pod': { before: [write(linkerd()), masquerade], ends: 0 },
  'a MASQUERADE rule in the pod, no rules': { before: [masquerade, answerOutside(4140)], ends: 95 },
  'target hands the connection back to the pod': { before: [answerOutside(4140)], ends: 95 },
  'node leads the connection back to the pod': { before: [leadBack(4140)], ends: 95 },
  'rules come 3 s late': { while: [{ after: 3000, step: write(linkerd()) }], ends: 0 },
  'what held is undone at 2 s, the rest comes at 3 s': {
    before: [write(linkerd(), { families: 'ipv4' })],
    while: [
      { after: 2000, step: flush },
      { after: 3000, step: write(linkerd(), { families: 'ipv6' }) },
    ],
    ends: 95,
  },
  'what held is undone at 2 s and done again at 5 s, the rest comes at 3 s': {
    before: [write(linkerd(), { families: 'ipv4' })],
    while: [
      { after: 2000, step: flush },
      { after: 3000, step: write(linkerd(), { families: 'ipv6' }) },
      { after: 5000, step: write(linkerd(), { families: 'ipv4' }) },
    ],
    ends: 0,
  },
  'sandbox without the interface': onlyLo,
  'every packet dropped by policy': { before: [write(linkerd()), dropEverything], ends: 0 },
};

export const istioCells: Cells = {
  ...notOfMeshes,
  'right rules': { before: [write(istio())], ends: 0 },
  'no rules': { ends: 95 },
  'no rules, a router refuses': 'the proof stays on lo',
  'rules flushed': { before: [write(istio()), flush], ends: 95 },
  // what Istio itself writes without its dual-stack option: the proof follows the family that istio-cni chooses
  'only IPv4 rules on a dual-stack pod': { before: [write(istio(), { families: 'ipv4' })], ends: 0 },
  'only IPv4 rules on a dual-stack pod, IPv6 is its first address': {
    before: [write(istio(), { families: 'ipv4' })],
    options: { podIPs: ipv6First },
    ends: 0,
  },
  'the mesh serves both families, right rules': {
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
  'wrong port: one of the proxy for the other direction': {
    before: [write(istio({ inbound: 15_001 }))],
    ends: 95,
  },
  "wrong port: the proxy's for what comes encrypted": onePort,
  'listeners missing': ownListener,
  // the other way round: the rule that the proof goes through is the proxy's own
  "proxy's uid skipped: run as the wrong user": {
    before: [write(istio())],
    options: { user: anybody },
    ends: 69,
  },
  "proxy's uid skipped: the rules skip the proof's": {
    before: [write(istio({ proxyUser: 1338 }))],
    ends: 95,
  },
  'the proxy runs as another user and group, right rules': {
    pod: { runAs: otherUser },
    before: [write(istio(otherRules))],
    ends: 0,
  },
  'the proxy runs as another user and group, rules for the usual one': {
    pod: { runAs: otherUser },
    before: [write(istio())],
    ends: 95,
  },
  'port taken': { before: [write(istio()), listenInPod(15_006)], ends: 69 },
  'no default route, the subnet only': byLo,
  'no default route, the services only': byLo,
  'no default route, no rules': { shape: { defaultRoute: false }, ends: 95 },
  'no route at all': { shape: { gateway: 'none' }, before: [write(istio())], ends: 0 },
  'right rules, lo is down': { before: [write(istio()), downLo], ends: 95 },
  'target answers by itself': { before: [listenInPod(15_002, 'banner')], ends: 95 },
  'target sends back what it gets': { before: [listenInPod(15_002, 'echo')], ends: 95 },
  'target answers by itself, right rules': {
    before: [write(istio()), listenInPod(15_002, 'banner')],
    ends: 0,
  },
  'target is an address of the pod itself': ownByDesign,
  'target is an address of the pod itself, no rules': ownByDesign,
  'a MASQUERADE rule in the pod': { before: [write(istio()), masquerade], ends: 0 },
  'a MASQUERADE rule in the pod, no rules': { before: [masquerade, listenInPod(15_002, 15_006)], ends: 95 },
  'target hands the connection back to the pod': { before: [listenInPod(15_002, 15_006)], ends: 95 },
  'node leads the connection back to the pod': 'the proof stays on lo',
  'rules come 3 s late': { while: [{ after: 3000, step: write(istio()) }], ends: 0 },
  'what held is undone at 2 s, the rest comes at 3 s': {
    pod: { env: { ISTIO_DUAL_STACK: 'true' } },
    before: [write(istio(), { families: 'ipv4' })],
    while: [
      { after: 2000, step: flush },
      { after: 3000, step: write(istio(), { families: 'ipv6' }) },
    ],
    ends: 95,
  },
  'what held is undone at 2 s and done again at 5 s, the rest comes at 3 s': 'its time is over at 5 s',
  'sandbox without the interface': onlyLo,
  'every packet dropped by policy': { before: [write(istio()), dropEverything], ends: 0 },
};
