import { otherPodAddress, otherSecondAddress, podAddress, secondAddress } from '../harness/addresses.ts';
import type { Cells, Step } from './plan.ts';
import { addSecondInterface, dropEverything, networkStatusOf } from './steps.ts';

const right = networkStatusOf('dual', podAddress, secondAddress);
const ofOther = networkStatusOf('dual', otherPodAddress, otherSecondAddress);
const tell: Step = (_, proof) => proof?.setNetworkStatus(right);
const notListed = networkStatusOf('dual', podAddress);

/** Some situations are missing: the profile's only check needs no route, and other profiles check eth0. */
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
  'network-status written late, address of another pod': {
    before: [addSecondInterface(otherSecondAddress)],
    while: [{ after: 1000, step: tell }],
    fails: 'address-differs',
  },
  'network-status of the previous sandbox': {
    before: [addSecondInterface()],
    while: [{ after: 200, step: tell }],
    options: { networkStatus: ofOther },
  },
  'network-status absent': { before: [addSecondInterface()] },
  // the device may be a virtual function that DPDK uses, which is not a network interface of the pod
  'network-status names a missing interface, the pod requests devices': {
    pod: { limits: { 'intel.com/intel_sriov_dpdk': '1' } },
    options: { networkStatus: right },
  },
  // Multus omits a network whose plugin creates no interface, such as Istio's
  'network-status omits the network, no interface': { options: { networkStatus: notListed } },
  'network without addresses, network-status absent': { before: [addSecondInterface({})] },
  'a policy drops every packet': {
    before: [addSecondInterface(), dropEverything],
    options: { networkStatus: right },
  },
};
