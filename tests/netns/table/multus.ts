import { otherPodAddress, otherSecondAddress, podAddress, secondAddress } from '../harness/addresses.ts';
import { linkLayerStatus, networkStatusOf } from './network-status.ts';
import type { Cells, Step } from './plan.ts';
import { notOfPlugins } from './plugins.ts';
import { addSecondInterface, downSecondInterface, dropEverything } from './steps.ts';

const right = networkStatusOf('dual', podAddress, secondAddress);
const ofOther = networkStatusOf('dual', otherPodAddress, otherSecondAddress);
const tell: Step = (_, proof) => proof?.setNetworkStatus(right);
const unlisted = networkStatusOf('dual', podAddress);
const oneCheck = 'one check looks at all of it at once';
const noRoute = 'the proof needs no route';

export const multusCells: Cells = {
  ...notOfPlugins,
  'right rules': { before: [addSecondInterface()], options: { networkStatus: right }, ends: 0 },
  'no default route, the subnet only': noRoute,
  'no default route, the services only': noRoute,
  'no route at all': noRoute,
  'rules come 3 s late': {
    while: [{ after: 3000, step: addSecondInterface() }],
    options: { networkStatus: right },
    ends: 0,
  },
  'what held is undone at 2 s, the rest comes at 3 s': oneCheck,
  'what held is undone at 2 s and done again at 5 s, the rest comes at 3 s': oneCheck,
  'sandbox without the interface': { ends: 95 },
  'interface comes 2 s late': 'the same as `rules come 3 s late`',
  'interface comes 2 s late, gateway does not answer': 'other profiles prove the first interface',
  'address of another pod': {
    before: [addSecondInterface(otherSecondAddress)],
    options: { networkStatus: right },
    ends: 95,
  },
  'network-status late': { before: [addSecondInterface()], while: [{ after: 1000, step: tell }], ends: 0 },
  'network-status of the sandbox before': {
    before: [addSecondInterface()],
    while: [{ after: 200, step: tell }],
    options: { networkStatus: ofOther },
    ends: 0,
  },
  'network-status absent': { before: [addSecondInterface()], ends: 0 },
  'network-status names an interface that is gone': { options: { networkStatus: right }, ends: 95 },
  // what Multus writes of a network whose NetworkAttachmentDefinition has no `cniVersion`
  'network-status leaves the network out': {
    before: [addSecondInterface()],
    options: { networkStatus: unlisted },
    ends: 0,
  },
  'network-status leaves the network out, interface down': {
    before: [addSecondInterface(), downSecondInterface],
    options: { networkStatus: unlisted },
    ends: 95,
  },
  // what it writes of a network whose plugin makes no interface, such as Istio's
  'network-status leaves the network out, no interface': { options: { networkStatus: unlisted }, ends: 0 },
  'network-status of the sandbox before leaves the network out, no interface': {
    options: { networkStatus: networkStatusOf('dual', otherPodAddress) },
    ends: 95,
  },
  'network without addresses, as network-status says': {
    before: [addSecondInterface({})],
    options: { networkStatus: linkLayerStatus },
    ends: 0,
  },
  'network without addresses, network-status late': {
    before: [addSecondInterface({})],
    while: [{ after: 7000, step: (_, proof) => proof?.setNetworkStatus(linkLayerStatus) }],
    ends: 0,
  },
  'network without addresses, network-status absent': { before: [addSecondInterface({})], ends: 0 },
  'gateway does not answer': 'other profiles prove the first interface',
  'gateway does not answer, others do': 'other profiles prove the first interface',
  'every packet dropped by policy': {
    before: [addSecondInterface(), dropEverything],
    options: { networkStatus: right },
    ends: 0,
  },
};
