/**
 * What the webhook writes into the init container, and the validator reads there. This file imports nothing, so that
 * the program in users' pods contains no code of the webhook.
 */

export const validateCommand = 'validate';

/** The names of the init container's environment variables. */
export const env = {
  /** A JSON list of {@link ProfileCheck}, all of which must pass. */
  checks: 'CNI_GATE_CHECKS',
  /** `warn` if a failure is only reported and the pod starts; otherwise absent. */
  mode: 'CNI_GATE_MODE',
  /** A {@link Continuous} as JSON; absent if the checks are not repeated while the pod runs. */
  continuous: 'CNI_GATE_CONTINUOUS',
  /** Comma-separated addresses of the pod (`status.podIPs`). */
  podIPs: 'CNI_GATE_POD_IPS',
  /** Comma-separated addresses of the node (`status.hostIPs`). */
  nodeIPs: 'CNI_GATE_NODE_IPS',
  /** The pod's namespace, which applies to networks without a namespace. */
  podNamespace: 'CNI_GATE_POD_NAMESPACE',
  /** The pod's annotation `k8s.v1.cni.cncf.io/networks`, as it is when the pod starts. */
  networks: 'CNI_GATE_NETWORKS',
  /** The path of the file with `k8s.v1.cni.cncf.io/network-status`. The file is empty until Multus has written it. */
  networkStatusFile: 'CNI_GATE_NETWORK_STATUS_FILE',
} as const;

/** Which of a mesh's two redirect rules a check tests. */
export type Direction = 'outbound' | 'inbound';

/** The setting that each check has. */
export interface TimedCheck {
  timeout: string;
}

/** Listens on `listen`, and connects to an address where nothing answers, for each family. */
export interface RedirectCheck extends TimedCheck {
  direction: Direction;
  /** The port to which the rule redirects: the proxy's, which is free until the proxy starts. */
  listen: number;
  /** `address:port` or `[address]:port`, where nothing answers. */
  connect: string[];
  /** The user ID with which the proof must run, because the rule may apply only to this user. */
  asUser?: number | undefined;
  /** The group ID with which the proof must run. */
  asGroup?: number | undefined;
  /** A user ID that the rule exempts, such as the proxy's. */
  notAsUser?: number | undefined;
  /** A group ID that the rule exempts. */
  notAsGroup?: number | undefined;
  /** Whether the mesh's rules are for all families of the pod, or only for the first family in the kernel's list. */
  families?: 'first' | 'all';
}

/** Passes if the node's proxy listens in the pod's network namespace, and gets connections that leave the pod. */
export interface CapturedCheck extends TimedCheck {
  listeners: number[];
  /** The proxy's port for connections that leave the pod. */
  outbound: number;
  connect: string[];
}

/** Passes if each network that the pod requests has its interface. */
export interface InterfacesCheck extends TimedCheck {
  /** Set if the pod requests devices: a device that a program in user space drives is not a network interface. */
  devices?: true;
}

/** Passes if the default gateway's link-layer address is known. */
export interface GatewayCheck extends TimedCheck {
  /** Set if the check fails for a pod without a default route. */
  required?: true;
}

/** Passes if a datagram reaches the node, and the node's answer comes back. */
export interface RoundTripCheck extends TimedCheck {
  /** With `prefer`, a missing answer passes with a note, because a network policy may be the cause. */
  mode: 'require' | 'prefer';
}

/** Passes if the kubelet reaches the pod with the container's startup probe, which no network policy can deny. */
export interface WitnessCheck extends TimedCheck {
  /** The port of the startup probe. */
  port: number;
  /** The proxy's port, to which the mesh redirects connections from outside; free until the proxy starts. */
  inbound?: number;
  /** Subnets whose connections the mesh does not redirect, so that they arrive at `port`. */
  exempt?: string[];
}

/** Passes if a TCP connect to a host and port succeeds. */
export interface ReachCheck extends TimedCheck {
  host: string;
  port: number;
}

/** Passes if the pod's network policy is in force: each `allowed` target can be reached, and no `blocked` one can. */
export interface PolicyCheck extends TimedCheck {
  /** Targets that the policy denies, as `host:port`; the kubelet replaces a host such as `$(KUBERNETES_SERVICE_HOST)`. */
  blocked: string[];
  /** Targets that the policy permits. If there are none, a network that carries no packets passes as well. */
  allowed?: string[];
}

/** How checks are repeated while the pod runs. Needs a {@link WitnessCheck}, whose container runs as long as the pod. */
export interface Continuous {
  /** The port of the readiness probe, closed while the network is lost; absent if only the log reports a loss. */
  port?: number;
  /** The time between two rechecks, such as `60s`. */
  interval: string;
  /** After how many consecutive failed rechecks the network is lost. */
  failures: number;
  /** Set if the check `policy` is repeated too. */
  policy?: true;
}

/** The names of the checks, and the settings of each. A check is an object with exactly one of these fields. */
export interface CheckSettings {
  redirect: RedirectCheck;
  captured: CapturedCheck;
  interfaces: InterfacesCheck;
  address: TimedCheck;
  gateway: GatewayCheck;
  roundTrip: RoundTripCheck;
  witness: WitnessCheck;
  reach: ReachCheck;
  policy: PolicyCheck;
}

export type CheckName = keyof CheckSettings;
/** One check: an object whose only key is its name. */
export type Check = { [Name in CheckName]: Record<Name, CheckSettings[Name]> }[CheckName];

/** A check as the validator receives it: name, settings, and the profile that requests the check. */
export type ProfileCheck = { profile: string } & Check;

/** The exit codes of the program, which the kubelet reports. */
export const exitCode = {
  /** Every check passed, or `proof.mode` is `warn` and failures were reported. */
  passed: 0,
  /** The arguments or the environment are invalid: `EX_USAGE` of sysexits.h. */
  wrongUsage: 64,
  /** A check could not be made, which says nothing about the network: `EX_UNAVAILABLE` of sysexits.h. */
  notPossible: 69,
  /** A check failed. linkerd's validator exits with the same code, so that linkerd's tools understand it. */
  failed: 95,
  /** 128 + the signal's number, as in a shell. The pod was deleted before there was a verdict. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

export type FailureCode = typeof exitCode.failed | typeof exitCode.notPossible;
