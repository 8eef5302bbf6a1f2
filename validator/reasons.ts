import { exitCode, type FailureCode } from './shared/contract.ts';

/** Why a check did not pass: how the program ends for it, and what a person looks at next. */
interface Meaning {
  code: FailureCode;
  lookAt: string;
}

const { failed, unproved } = exitCode;

/** Every reason. The words are stable: termination messages carry them, and tools may go by them. */
export const reasons = {
  'no-route': {
    code: unproved,
    lookAt:
      "Look at the pod's routes: none of the profile's addresses has one, nor has the API server's " +
      'service address or a neighbour. Give the profile a `connect` address that this pod has a route ' +
      'to.',
  },
  'no-target': {
    code: unproved,
    lookAt:
      "Look at the profile's `connect` list and at the pod's addresses (`status.podIPs`): the list " +
      'needs an address of a family that the pod has, and not an address of the pod itself.',
  },
  'port-taken': {
    code: unproved,
    lookAt:
      'Look for a program of this pod that listens on that port: a container that runs before this one, ' +
      'or a sidecar that was running when this one ran again. The proof has to come before the proxy.',
  },
  'cannot-listen': {
    code: unproved,
    lookAt:
      'Look at the port (one below 1024 may need a right that this container does not have) and whether ' +
      'the address family is switched off in this pod.',
  },
  'wrong-user': {
    code: unproved,
    lookAt:
      "Look at the container's user and group id: the rule does not apply to it, so its proof would mean " +
      'nothing. See who changed `runAsUser` or `runAsGroup` of this container after cni-gate set it, and ' +
      "`asUser`, `notAsUser` and `notAsGroup` of the profile's check.",
  },
  'not-redirected': {
    code: failed,
    lookAt:
      "Look at the mesh's CNI pod on this node: was it ready, and its plugin in the node's CNI " +
      'configuration, before this sandbox was made? Rules are written when a sandbox is made, so this ' +
      "pod must be recreated. If other pods of the node pass, look at this pod's annotations that " +
      'leave out ports or addresses, and at the port that the rule leads to.',
  },
  'answered-by-someone-else': {
    code: failed,
    lookAt:
      'Look at who answered. Where the connection left the pod, somebody outside has that address and ' +
      'answers by itself; where it ended at a port of this pod, a program of the pod listens there. In both ' +
      "cases no rule led it back: look whether the mesh's plugin was in the node's CNI configuration before " +
      'this sandbox was made.',
  },
  'no-listener': {
    code: failed,
    lookAt:
      "Look at ztunnel on this node, and at istio-cni's log for this pod: ztunnel opens these ports " +
      'inside the pod when istio-cni hands it over. The annotation `ambient.istio.io/redirection` is no ' +
      'proof: it outlives a reboot.',
  },
  'not-captured': {
    code: failed,
    lookAt:
      "Look at istio-cni's log for this pod: ztunnel listens inside it, but no rule leads connections " +
      'there. The pod must be recreated once istio-cni is ready on this node.',
  },
  'interface-missing': {
    code: failed,
    lookAt:
      "Look whether Multus was in the node's CNI configuration, and the network's plugin and address " +
      'manager ready, before this sandbox was made. Interfaces are made with the sandbox, so this pod ' +
      'must be recreated.',
  },
  'interface-down': {
    code: failed,
    lookAt:
      'Look at the device of the node that the interface stands on: its link, its VLAN, its virtual ' +
      'function.',
  },
  'interface-without-address': {
    code: failed,
    lookAt:
      "Look at the network's address manager (Whereabouts, host-local, DHCP) and at the pod's " +
      'annotation `k8s.v1.cni.cncf.io/network-status`.',
  },
  'address-differs': {
    code: failed,
    lookAt:
      "Look at the pod's annotation `k8s.v1.cni.cncf.io/network-status` and at the network's address " +
      'manager: the interface does not have what was given out for it.',
  },
  'networks-unreadable': {
    code: unproved,
    lookAt:
      "Look at the pod's annotation `k8s.v1.cni.cncf.io/networks`: it is neither a comma list nor a " +
      'JSON list of networks.',
  },
  'address-missing': {
    code: failed,
    lookAt:
      "Look at the CNI plugin's log for this sandbox: the cluster knows the pod by an address that none " +
      'of its interfaces has, so nobody reaches it there. The pod must be recreated.',
  },
  'address-unknown': {
    code: unproved,
    lookAt:
      "Look at `status.podIPs` of the pod and at the CNI plugin's log for this sandbox: no address is " +
      'known.',
  },
  'gateway-silent': {
    code: failed,
    lookAt:
      "Look at the CNI agent on this node and at the node's end of the pod's interface: no network " +
      'policy keeps a gateway from answering at the link layer, so the pod is not attached to its ' +
      'datapath.',
  },
  'send-refused': {
    code: unproved,
    lookAt:
      "Look for rules inside the pod's own network namespace that drop what it sends, and for addresses " +
      'of the pod that `ip -6 addr` shows as tentative or dadfailed: the gateway could not be asked.',
  },
  'name-unknown': {
    code: failed,
    lookAt: "Look at the cluster's DNS, and at the pod's `dnsPolicy` and `dnsConfig`.",
  },
  'connect-refused': {
    code: failed,
    lookAt:
      'Look at the program behind that address: it was reached and does not listen, or a firewall ' +
      'answered for it.',
  },
  'connect-timed-out': {
    code: failed,
    lookAt: 'Look at network policies and firewalls on the way, and whether the address is up.',
  },
  unreachable: {
    code: failed,
    lookAt: "Look at the pod's routes, and at the gateways on the way.",
  },
  unexpected: {
    code: unproved,
    lookAt: 'This is a defect of the validator: please report it with this log.',
  },
} as const satisfies Record<string, Meaning>;

/** Why a check did not pass. */
export type Reason = keyof typeof reasons;
