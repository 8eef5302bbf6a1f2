import { gatewayAddress, otherPodAddress, withPrefix } from '../harness/addresses.ts';
import type { Shape } from '../harness/shape.ts';
import type { Cells, Plan, Step } from './plan.ts';
import {
  dropEverything,
  exchangeAddress,
  giveInterface,
  restoreAddress,
  silenceGateway,
  takeInterface,
} from './steps.ts';

/*
 * Why some situations are missing here: these plugins write no rules into the pod, and their proof opens no connection,
 * binds no port and does not use `lo`. A pod without its interface has no routes either.
 */

/** Gives the node's end of the link its addresses, as if the network's agent attached the datapath late. */
const attach: Step = async (sandbox) => {
  const lines = sandbox.familyList.map(
    (family) => `addr add ${withPrefix(family, gatewayAddress[family], 'host')} dev pod0`,
  );
  await sandbox.ip('node', ...lines);
};

const silenceIPv6Gateway: Step = async (sandbox) =>
  void (await sandbox.exec('node', 'ip', '-6 addr flush dev pod0 scope global'.split(' ')));

/** The validator starts in a pod that has only `lo`. The interface appears later, with addresses and routes. */
const lateInterface = (shape: Partial<Shape>, before: Step[]): Plan => ({
  shape,
  before: [...before, takeInterface],
  while: [{ after: 2000, step: giveInterface }],
});

const exchanged: Plan['while'] = [
  { after: 2000, step: exchangeAddress },
  // earlier than 3 s: at 3 s, the kernel gives up on the gateway, and datagrams that it drops count as sent
  { after: 2700, step: attach },
];
const linkRoute = { gateway: 'by-link-route' } as const;

export const ciliumCells: Cells = {
  'correct rules': { shape: linkRoute },
  "no default route, only the subnet's": { shape: { ...linkRoute, defaultRoute: false } },
  "no default route, only the services'": { shape: { ...linkRoute, defaultRoute: 'services' } },
  'rules are written after 3 s': {
    shape: linkRoute,
    before: [silenceGateway],
    while: [{ after: 3000, step: attach }],
  },
  'half breaks at 2 s, the rest appears at 3 s': {
    shape: linkRoute,
    before: [silenceGateway],
    while: exchanged,
    fails: 'address-missing',
  },
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s': {
    shape: linkRoute,
    before: [silenceGateway],
    while: [...exchanged, { after: 5000, step: restoreAddress }],
  },
  'sandbox without the interface': { shape: { gateway: 'none' }, fails: 'address-missing' },
  'interface appears after 2 s': lateInterface(linkRoute, []),
  'address of another pod': {
    shape: { ...linkRoute, podAddress: otherPodAddress },
    fails: 'address-missing',
  },
  'gateway does not answer': { shape: linkRoute, before: [silenceGateway], fails: 'gateway-silent' },
  'the IPv6 gateway does not answer': {
    shape: linkRoute,
    before: [silenceIPv6Gateway],
    fails: 'gateway-silent (IPv6)',
  },
  'a policy drops every packet': { shape: linkRoute, before: [dropEverything] },
};

const standIn = { gateway: 'stand-in', families: 'ipv4' } as const;

/** A permanent neighbour entry replaces the gateway's answer: no request is sent, so no answer can be late. */
export const awsCells: Cells = {
  'correct rules': { shape: standIn },
  // the plugin of AWS always writes a default route
  "no default route, only the subnet's": {
    shape: { ...standIn, defaultRoute: false },
    fails: 'no-default-route',
  },
  "no default route, only the services'": {
    shape: { ...standIn, defaultRoute: 'services' },
    fails: 'no-default-route',
  },
  'sandbox without the interface': { shape: { ...standIn, gateway: 'none' }, fails: 'address-missing' },
  'interface appears after 2 s': lateInterface(standIn, []),
  'address of another pod': { shape: { ...standIn, podAddress: otherPodAddress }, fails: 'address-missing' },
  'a policy drops every packet': { shape: standIn, before: [dropEverything] },
};
