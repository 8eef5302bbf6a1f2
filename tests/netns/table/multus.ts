import { otherPodAddress, otherSecondAddress, podAddress, secondAddress } from '../harness/addresses.ts';
import type { Cells, Step } from './plan.ts';
import {
  addSecondInterface,
  downSecondInterface,
  dropEverything,
  linkLayerStatus,
  networkStatusOf,
} from './steps.ts';

const right = networkStatusOf('dual', podAddress, secondAddress);
const nameless = right.replace('"interface":"net1",', '');
const ofOther = networkStatusOf('dual', otherPodAddress, otherSecondAddress);
const tell: Step = (_, proof) => proof?.setNetworkStatus(right);
const notListed = networkStatusOf('dual', podAddress);

/** One check covers everything and needs no route. The pod's first interface is checked by other profiles. */
export const multusCells: Cells = {
  'correct rules': { before: [addSecondInterface()], options: { networkStatus: right } },
  'rules are written after 3 s': {
    while: [{ after: 3000, step: addSecondInterface() }],
    options: { networkStatus: right },
  },
  'sandbox without the interface': { fails: 'interface-missing' },
  'address of another pod': {
    before: [addSecondInterface(otherSecondAddress)],
    options: { networkStatus: right },
    fails: 'address-differs',
  },
  'network-status written late': {
    before: [addSecondInterface()],
    while: [{ after: 1000, step: tell }],
  },
  'network-status of the previous sandbox': {
    before: [addSecondInterface()],
    while: [{ after: 200, step: tell }],
    options: { networkStatus: ofOther },
  },
  'network-status absent': { before: [addSecondInterface()] },
  'network-status names a missing interface': {
    options: { networkStatus: right },
    fails: 'interface-missing',
  },
  // the device is for instance a virtual function that DPDK uses, which is no network interface of the pod
  'network-status names a missing interface, the pod requests devices': {
    pod: { limits: { 'intel.com/intel_sriov_dpdk': '1' } },
    options: { networkStatus: right },
  },
  'network-status has addresses and no interface': {
    before: [addSecondInterface()],
    options: { networkStatus: nameless },
  },
  'network-status has addresses and no interface, which is missing': {
    options: { networkStatus: nameless },
    fails: 'interface-missing',
  },
  // Multus omits a network whose NetworkAttachmentDefinition has no `cniVersion`
  'network-status omits the network': {
    before: [addSecondInterface()],
    options: { networkStatus: notListed },
  },
  'network-status omits the network, interface down': {
    before: [addSecondInterface(), downSecondInterface],
    options: { networkStatus: notListed },
    fails: 'interface-down',
  },
  // Multus omits a network whose plugin makes no interface, such as Istio's
  'network-status omits the network, no interface': { options: { networkStatus: notListed } },
  'network-status of the previous sandbox omits the network, no interface': {
    options: { networkStatus: networkStatusOf('dual', otherPodAddress) },
    fails: 'interface-missing',
  },
  'network without addresses, network-status confirms it': {
    before: [addSecondInterface({})],
    options: { networkStatus: linkLayerStatus },
  },
  'network without addresses, network-status late': {
    before: [addSecondInterface({})],
    while: [{ after: 7000, step: (_, proof) => proof?.setNetworkStatus(linkLayerStatus) }],
  },
  'network without addresses, network-status absent': { before: [addSecondInterface({})] },
  'a policy drops every packet': {
    before: [addSecondInterface(), dropEverything],
    options: { networkStatus: right },
  },
};
