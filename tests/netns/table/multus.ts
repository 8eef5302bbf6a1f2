import { otherPodAddress, otherSecondAddress, podAddress, secondAddress } from '../harness/addresses.ts';
import { type Cells, fails, passes, type Step } from './plan.ts';
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

/** One check covers everything, without a route; other profiles check the first interface. */
export const multusCells: Cells = {
  'correct rules': { ...passes(addSecondInterface()), options: { networkStatus: right } },
  'rules are written after 3 s': {
    while: [{ after: 3000, step: addSecondInterface() }],
    options: { networkStatus: right },
    ends: 0,
  },
  'sandbox without the interface': fails(),
  'address of another pod': {
    ...fails(addSecondInterface(otherSecondAddress)),
    options: { networkStatus: right },
  },
  'network-status written late': {
    before: [addSecondInterface()],
    while: [{ after: 1000, step: tell }],
    ends: 0,
  },
  'network-status of the previous sandbox': {
    before: [addSecondInterface()],
    while: [{ after: 200, step: tell }],
    options: { networkStatus: ofOther },
    ends: 0,
  },
  'network-status absent': passes(addSecondInterface()),
  'network-status names a missing interface': { options: { networkStatus: right }, ends: 95 },
  // a virtual function that DPDK drives, without `device-info`
  'network-status names a missing interface, the pod requests devices': {
    pod: { limits: { 'intel.com/intel_sriov_dpdk': '1' } },
    options: { networkStatus: right },
    ends: 0,
  },
  'network-status has addresses and no interface': {
    ...passes(addSecondInterface()),
    options: { networkStatus: nameless },
  },
  'network-status has addresses and no interface, which is missing': {
    options: { networkStatus: nameless },
    ends: 95,
  },
  // what Multus writes of a network whose NetworkAttachmentDefinition has no `cniVersion`
  'network-status omits the network': {
    ...passes(addSecondInterface()),
    options: { networkStatus: notListed },
  },
  'network-status omits the network, interface down': {
    ...fails(addSecondInterface(), downSecondInterface),
    options: { networkStatus: notListed },
  },
  // what it writes of a network whose plugin makes no interface, such as Istio's
  'network-status omits the network, no interface': { options: { networkStatus: notListed }, ends: 0 },
  'network-status of the previous sandbox omits the network, no interface': {
    options: { networkStatus: networkStatusOf('dual', otherPodAddress) },
    ends: 95,
  },
  'network without addresses, network-status confirms it': {
    ...passes(addSecondInterface({})),
    options: { networkStatus: linkLayerStatus },
  },
  'network without addresses, network-status late': {
    before: [addSecondInterface({})],
    while: [{ after: 7000, step: (_, proof) => proof?.setNetworkStatus(linkLayerStatus) }],
    ends: 0,
  },
  'network without addresses, network-status absent': passes(addSecondInterface({})),
  'a policy drops every packet': {
    ...passes(addSecondInterface(), dropEverything),
    options: { networkStatus: right },
  },
};
