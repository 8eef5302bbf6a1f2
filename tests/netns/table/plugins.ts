import { gatewayAddress, otherPodAddress, withPrefix } from '../harness/addresses.ts';
import type { Shape } from '../harness/shape.ts';
import type { Cells, Plan, Step } from './plan.ts';
import {
  dropEverything,
  exchangeAddress,
  giveInterface,
  restoreAddress,
  silenceAmongOthers,
  silenceGateway,
  takeInterface,
} from './steps.ts';
import { withoutMultus } from './without-multus.ts';

const noRules = 'the plugin writes no rules into the pod';
const noTarget = 'the proof opens no connection';

/** Situations that do not apply to any plugin. */
export const notOfPlugins = {
  'no rules': noRules,
  'no rules, a router refuses': noRules,
  'rules flushed': noRules,
  'only IPv4 rules on a dual-stack pod': noRules,
  'only IPv4 rules on a dual-stack pod with IPv6 as first address': noRules,
  'the mesh serves both families, correct rules': noRules,
  'the mesh serves both families, only IPv4 rules': noRules,
  'wrong port': noRules,
  'wrong port: that of the other direction': noRules,
  'wrong port: that of encrypted traffic': noRules,
  'listeners missing': noTarget,
  'the proof runs as the wrong user': noRules,
  'rules for another proxy user': noRules,
  'the proxy has other ids, correct rules': noRules,
  'the proxy has other ids, rules for the default ids': noRules,
  'port in use': 'the proof binds no port',
  'no default route, no rules': noRules,
  'correct rules, lo is down': 'nothing uses lo',
  'the target itself answers': noTarget,
  'the target echoes': noTarget,
  'the target itself answers, correct rules': noTarget,
  'the target is an address of the pod': noTarget,
  'the target is an address of the pod, no rules': noTarget,
  'a MASQUERADE rule in the pod': noTarget,
  'a MASQUERADE rule in the pod, no rules': noTarget,
  'the target connects back to the pod': noTarget,
  'the node routes back to the pod': noTarget,
};

/** The node's end of the link gets its addresses: the agent attached the datapath. */
const attach: Step = async (sandbox) => {
  const lines = sandbox.familyList.map(
    (family) => `addr add ${withPrefix(family, gatewayAddress[family], 'host')} dev pod0`,
  );
  await sandbox.ip('node', ...lines);
};

/** The validator starts in a pod with nothing but `lo`; its interface comes with addresses and routes. */
const lateInterface = (shape: Partial<Shape>, before: Step[]): Plan => ({
  shape,
  before: [...before, takeInterface],
  while: [{ after: 2000, step: giveInterface }],
  ends: before.length === 0 ? 0 : 95,
});

const linkRoute = { gateway: 'by-link-route' } as const;

export const ciliumCells: Cells = {
  ...notOfPlugins,
  ...withoutMultus,
  'correct rules': { shape: linkRoute, ends: 0 },
  "no default route, only the subnet's": { shape: { ...linkRoute, defaultRoute: false }, ends: 0 },
  "no default route, only the services'": { shape: { ...linkRoute, defaultRoute: 'services' }, ends: 0 },
  'no route at all': 'the same as a sandbox without the interface',
  'rules are written after 3 s': {
    shape: linkRoute,
    before: [silenceGateway],
    while: [{ after: 3000, step: attach }],
    ends: 0,
  },
  'half breaks at 2 s, the rest appears at 3 s': {
    shape: linkRoute,
    before: [silenceGateway],
    while: [
      { after: 2000, step: exchangeAddress },
      // not when the kernel gives up and asks anew: an answer between two attempts would be noted as known before
      { after: 2700, step: attach },
    ],
    ends: 95,
  },
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': {
    shape: linkRoute,
    before: [silenceGateway],
    while: [
      { after: 2000, step: exchangeAddress },
      // not when the kernel gives up and asks anew: an answer between two attempts would be noted as known before
      { after: 2700, step: attach },
      { after: 5000, step: restoreAddress },
    ],
    ends: 0,
  },
  'sandbox without the interface': { shape: { gateway: 'none' }, ends: 95 },
  'interface appears after 2 s': lateInterface(linkRoute, []),
  'interface appears after 2 s, gateway does not answer': lateInterface(linkRoute, [silenceGateway]),
  'address of another pod': { shape: { ...linkRoute, podAddress: otherPodAddress }, ends: 95 },
  'gateway does not answer': { shape: linkRoute, before: [silenceGateway], ends: 95 },
  'gateway does not answer, other hosts do': { shape: linkRoute, before: [silenceAmongOthers], ends: 95 },
  'a policy drops every packet': { shape: linkRoute, before: [dropEverything], ends: 0 },
};

const together = 'nothing arrives late: the checks pass at once, or one of them never passes';
const permanent = 'a permanent neighbour entry represents the gateway: no host is asked';
const standIn = { gateway: 'stand-in', families: 'ipv4' } as const;

export const awsCells: Cells = {
  ...notOfPlugins,
  ...withoutMultus,
  'correct rules': { shape: standIn, ends: 0 },
  "no default route, only the subnet's": { shape: { ...standIn, defaultRoute: false }, ends: 0 },
  "no default route, only the services'": { shape: { ...standIn, defaultRoute: 'services' }, ends: 0 },
  'no route at all': 'the same as a sandbox without the interface',
  'half breaks at 2 s, the rest appears at 3 s': together,
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': together,
  'rules are written after 3 s': 'the plugin writes addresses and routes before it returns, or not at all',
  'sandbox without the interface': { shape: { ...standIn, gateway: 'none' }, ends: 95 },
  'interface appears after 2 s': lateInterface(standIn, []),
  'interface appears after 2 s, gateway does not answer': permanent,
  'address of another pod': { shape: { ...standIn, podAddress: otherPodAddress }, ends: 95 },
  'gateway does not answer': permanent,
  'gateway does not answer, other hosts do': permanent,
  'a policy drops every packet': { shape: standIn, before: [dropEverything], ends: 0 },
};
