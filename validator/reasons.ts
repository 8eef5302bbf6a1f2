import { exitCode, type FailureCode } from './shared/contract.ts';

/** What a reason means: the exit code of the program, and advice for a person. */
interface Meaning {
  code: FailureCode;
  advice: string;
}

const meaning = <Word extends string>(
  code: FailureCode,
  advice: Record<Word, string>,
): Record<Word, Meaning> =>
  Object.fromEntries(
    Object.entries<string>(advice).map(([word, text]) => [word, { code, advice: text }]),
  ) as Record<Word, Meaning>;

/**
 * All reasons. Among the reasons of one check, the most informative comes first. The names are stable, because tools
 * may read them from termination messages.
 */
export const reasons = {
  ...meaning(exitCode.failed, {
    'answered-by-someone-else':
      'Check who answered: a host outside if the connection left the pod, or a program of the pod if it ' +
      "ended at one of its ports. No rule redirected it: check whether the mesh's plugin was in the node's " +
      'CNI configuration before this sandbox was created.',
    'not-redirected':
      "Check the mesh's CNI pod on this node: was it ready, and its plugin in the node's CNI " +
      'configuration, before this sandbox was created? Rules are written when a sandbox is created: ' +
      "recreate this pod. If other pods of the node pass, check this pod's annotations that exclude ports " +
      'or addresses, and the port of the rule.',
    'no-listener':
      "Check ztunnel on this node, and istio-cni's log for this pod: ztunnel opens these ports inside the " +
      'pod when istio-cni hands it over. The annotation `ambient.istio.io/redirection` is no proof: it ' +
      'outlives a reboot.',
    'not-captured':
      "Check istio-cni's log for this pod: ztunnel listens in it, but no rule redirects connections to " +
      'ztunnel. Recreate the pod when istio-cni is ready on this node.',
    'interface-missing':
      "Check whether Multus was in the node's CNI configuration, and the network's plugin and IPAM ready, " +
      'before this sandbox was created. Interfaces are created with the sandbox: recreate this pod.',
    'interface-down':
      "Check the node's device behind this interface: its link, its VLAN, its virtual function.",
    'address-differs':
      "Check the pod's annotation `k8s.v1.cni.cncf.io/network-status` and the network's IPAM: the " +
      'interface does not have the assigned address.',
    'address-missing':
      "Check the CNI plugin's log for this sandbox: none of the pod's interfaces has the address by which " +
      'the cluster knows the pod, so traffic does not reach it. Recreate the pod.',
    'address-unusable':
      "Check `ip -6 addr` in the pod's network namespace: the kernel does not send from an address that is tentative " +
      '(duplicate address detection has not ended) or dadfailed (another host has the address).',
    'gateway-silent':
      "Check the CNI agent on this node and the node's end of the pod's interface. Network policies do not " +
      'affect the link layer, so the pod is not attached to its datapath.',
    'no-default-route':
      "Check the CNI plugin's log for this sandbox: the pod has no default route, or the one with the lowest " +
      'metric discards packets. Recreate the pod.',
    'node-silent':
      "Check the node's routes to the pod and the CNI agent on this node: either what the pod sends does not " +
      'reach the node, or no answer comes back. A network policy that denies egress to the node looks the same: ' +
      'the profile then needs `roundTrip: { mode: prefer }`.',
    'not-reached':
      "Check the node's routes to the pod, and whether one of its pods has the same address: the kubelet's " +
      'connection did not arrive. If the pod is in a mesh, its label must name the profile of the mesh as well.',
    'inbound-not-redirected':
      "Check the mesh's CNI pod on this node and who changes rules in this pod: connections from outside reach " +
      'the pod without its proxy. Recreate the pod. If no pod of the mesh passes, check the settings of its plugin ' +
      'that leave out ports or subnets: pods do not show them.',
    'policy-not-in-force':
      'Check whether a network policy of this namespace selects the pod and denies this `blocked` target, and the ' +
      'log of its agent on this node: agents write the rules of a new pod late.',
    'name-unknown': "Check the cluster's DNS, and the pod's `dnsPolicy` and `dnsConfig`.",
    'connect-refused':
      'Check the program at that address: it does not listen, or a firewall answered for it.',
    'connect-timed-out': 'Check network policies and firewalls on the path, and whether the address is up.',
    unreachable: "Check the pod's routes, and the gateways on the path.",
    'policy-too-strict':
      'Check whether the network policies that select the pod permit this `allowed` target, their agent on this ' +
      'node, which may deny everything at first, and the target itself: is it up?',
  }),
  ...meaning(exitCode.notPossible, {
    'no-route':
      "Check the pod's routes: it has no route to any `connect` address of the profile, or to the API server's " +
      'service address. Add a `connect` address to which the pod has a route.',
    'no-target':
      "Check the profile's `connect`, `blocked` or `allowed` list and the pod's addresses (`status.podIPs`): " +
      "the list needs an address of the pod's family.",
    'port-taken':
      'Check which program of this pod listens on that port: a container that runs before this one, or a ' +
      'sidecar that was running when this one ran again. The proof must run before the proxy.',
    'cannot-listen':
      'Check the port (below 1024 may need a right that this container does not have), and whether the ' +
      'address family is disabled in this pod.',
    'wrong-user':
      'Check who changed `runAsUser` or `runAsGroup` of this container after cni-gate set it, and ' +
      "`asUser`, `notAsUser` and `notAsGroup` of the profile's check: the rule does not apply to this id.",
    'networks-unreadable':
      "Check the pod's annotation `k8s.v1.cni.cncf.io/networks`: it is neither a comma-separated nor a JSON " +
      'list of networks, or it names more than 100.',
    'address-unknown':
      "Check `status.podIPs` of the pod and the CNI plugin's log for this sandbox: no address is known.",
    'send-refused':
      "Check for rules in the pod's network namespace that drop what it sends: neither gateway nor node could be " +
      'asked.',
    starved:
      "Check the node's load and the CPU limit of this container: it did not run for so long that it may have " +
      'missed an answer. Recreate the pod.',
    'not-readable':
      'Check the container runtime: a sandboxed one (gVisor, Kata), or a profile of AppArmor or SELinux, hides ' +
      'the tables of the network from this container. Use a profile without this check.',
    unexpected: 'This is a defect of the validator: please report it with this log.',
  }),
};

/** Why a check did not pass. */
export type Reason = keyof typeof reasons;
