import { gatewayAddress, otherPodAddress, withPrefix } from '../harness/addresses.ts';
import type { Shape } from '../harness/shape.ts';
import type { Cells, Plan, Step } from './plan.ts';
import { dropEverything, giveInterface, silenceAmongOthers, silenceGateway, takeInterface } from './steps.ts';

const noRules = 'the plugin writes no rules into the pod';
const noTarget = 'the proof connects to nobody';
const noMultus = 'Multus has no part in it';

/** What says nothing about any plugin. */
export const notOfPlugins = {
  'no rules': noRules,
  'no rules, a router refuses': noRules,
  'rules flushed': noRules,
  'only IPv4 rules on a dual-stack pod': noRules,
  'only IPv4 rules on a dual-stack pod, IPv6 is its first address': noRules,
  'the mesh serves both families, right rules': noRules,
  'the mesh serves both families, only IPv4 rules': noRules,
  'wrong port': noRules,
  'wrong port: one of the proxy for the other direction': noRules,
  "wrong port: the proxy's for what comes encrypted": noRules,
  'listeners missing': noTarget,
  "proxy's uid skipped: run as the wrong user": noRules,
  "proxy's uid skipped: the rules skip the proof's": noRules,
  'the proxy runs as another user and group, right rules': noRules,
  'the proxy runs as another user and group, rules for the usual one': noRules,
  'port taken': 'the proof binds no port of anybody',
  'no default route, no rules': noRules,
  'right rules, lo is down': 'nothing goes by lo',
  'target answers by itself': noTarget,
  'target sends back what it gets': noTarget,
  'target answers by itself, right rules': noTarget,
  'target hands the connection back to the pod': noTarget,
  'node leads the connection back to the pod': noTarget,
};

const withoutMultus = {
  'network-status late': noMultus,
  'network-status of the sandbox before': noMultus,
  'network-status absent': noMultus,
  'network-status leaves the network out': noMultus,
  'network without addresses, as network-status says': noMultus,
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
  'right rules': { shape: linkRoute, ends: 0 },
  'no default route, the subnet only': { shape: { ...linkRoute, defaultRoute: false }, ends: 0 },
  'no default route, the services only': { shape: { ...linkRoute, defaultRoute: 'services' }, ends: 0 },
  'no route at all': 'the same as a sandbox without the interface',
  'rules come 3 s late': {
    shape: linkRoute,
    before: [silenceGateway],
    while: [{ after: 3000, step: attach }],
    ends: 0,
  },
  'sandbox without the interface': { shape: { gateway: 'none' }, ends: 95 },
  'interface comes 2 s late': lateInterface(linkRoute, []),
  'interface comes 2 s late, gateway does not answer': lateInterface(linkRoute, [silenceGateway]),
  'address of another pod': { shape: { ...linkRoute, podAddress: otherPodAddress }, ends: 95 },
  'gateway does not answer': { shape: linkRoute, before: [silenceGateway], ends: 95 },
  'gateway does not answer, others do': { shape: linkRoute, before: [silenceAmongOthers], ends: 95 },
  'every packet dropped by policy': { shape: linkRoute, before: [dropEverything], ends: 0 },
};

const permanent = 'a permanent neighbour entry stands for the gateway: nobody is asked';
const standIn = { gateway: 'stand-in', families: 'ipv4' } as const;

export const awsCells: Cells = {
  ...notOfPlugins,
  ...withoutMultus,
  'right rules': { shape: standIn, ends: 0 },
  'no default route, the subnet only': { shape: { ...standIn, defaultRoute: false }, ends: 0 },
  'no default route, the services only': { shape: { ...standIn, defaultRoute: 'services' }, ends: 0 },
  'no route at all': 'the same as a sandbox without the interface',
  'rules come 3 s late': 'address and routes are written before the sandbox is handed over, or not at all',
  'sandbox without the interface': { shape: { ...standIn, gateway: 'none' }, ends: 95 },
  'interface comes 2 s late': lateInterface(standIn, []),
  'interface comes 2 s late, gateway does not answer': permanent,
  'address of another pod': { shape: { ...standIn, podAddress: otherPodAddress }, ends: 95 },
  'gateway does not answer': permanent,
  'gateway does not answer, others do': permanent,
  'every packet dropped by policy': { shape: standIn, before: [dropEverything], ends: 0 },
};
