import { otherPodAddress, otherSecondAddress, podAddress, secondAddress } from '../harness/addresses.ts';
import { linkLayerStatus, networkStatusOf } from './network-status.ts';
import type { Cells, Step } from './plan.ts';
import { notOfPlugins } from './plugins.ts';
import { addSecondInterface, dropEverything } from './steps.ts';

const right = networkStatusOf('dual', podAddress, secondAddress);
const ofOther = networkStatusOf('dual', otherPodAddress, otherSecondAddress);
const tell: Step = (_, proof) => proof?.setNetworkStatus(right);
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
  'network-status leaves the network out': {
    before: [addSecondInterface()],
    options: { networkStatus: networkStatusOf('dual', podAddress) },
    ends: 95,
  },
  'network without addresses, as network-status says': {
    before: [addSecondInterface({})],
    options: { networkStatus: linkLayerStatus },
    ends: 0,
  },
  'gateway does not answer': 'other profiles prove the first interface',
  'gateway does not answer, others do': 'other profiles prove the first interface',
  'every packet dropped by policy': {
    before: [addSecondInterface(), dropEverything],
    options: { networkStatus: right },
    ends: 0,
  },
};
