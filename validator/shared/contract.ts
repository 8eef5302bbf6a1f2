/**
 * What the injector writes into the init container and the validator reads there. It has no imports, so that the
 * program in users' pods contains nothing of the webhook.
 */

export const validateCommand = 'validate';

/** Names of the environment variables of the init container. */
export const env = {
  /** JSON: a list of {@link ProfileCheck}, all of which must pass. */
  checks: 'CNI_GATE_CHECKS',
  /** `warn` if a failure is only reported and the pod starts; absent otherwise. */
  mode: 'CNI_GATE_MODE',
  /** Comma-separated addresses of the pod (`status.podIPs`). */
  podIPs: 'CNI_GATE_POD_IPS',
  /** Comma-separated addresses of the node (`status.hostIPs`). */
  nodeIPs: 'CNI_GATE_NODE_IPS',
  /** The pod's namespace, for networks that name none. */
  podNamespace: 'CNI_GATE_POD_NAMESPACE',
  /** The pod's `k8s.v1.cni.cncf.io/networks` annotation as it is when the pod starts. */
  networks: 'CNI_GATE_NETWORKS',
  /** Path of the file with `k8s.v1.cni.cncf.io/network-status`, once Multus wrote it. */
  networkStatusFile: 'CNI_GATE_NETWORK_STATUS_FILE',
} as const;

/** Which of a mesh's two rules a redirect goes through. */
export type Direction = 'outbound' | 'inbound';

/** Bind `listen`, connect to each address of a family of the pod, and get our token back. */
export interface RedirectCheck {
  direction: Direction;
  /** The port that the rule redirects to: the proxy's, free until the proxy starts. */
  listen: number;
  /** `address:port` or `[address]:port` where nothing answers. */
  connect: string[];
  /** The user id that the proof must run as (a rule may exclude others). */
  asUser?: number | undefined;
  /** The group id that the proof must run as. */
  asGroup?: number | undefined;
  /** A user id that the rule exempts: the proxy's own. */
  notAsUser?: number | undefined;
  /** A group id that the rule exempts. */
  notAsGroup?: number | undefined;
  /** Whether the mesh writes rules for all families of the pod, or for that of the kernel's first address. */
  families?: 'first' | 'all';
  timeout: string;
}

/** The listeners of a node's proxy are in this network namespace, and a connect to the outside reaches its own. */
export interface CapturedCheck {
  listeners: number[];
  /** The port for connections that leave the pod. */
  outbound: number;
  connect: string[];
  timeout: string;
}

/** A check with no setting but its time-out. */
export interface TimedCheck {
  timeout: string;
}

/** Each network that the pod requests has its interface. */
export interface InterfacesCheck extends TimedCheck {
  /** The pod requests devices: a program may drive an interface in user space, where the kernel does not show it. */
  devices?: true;
}

/** The default gateway's link-layer address is known. */
export interface GatewayCheck extends TimedCheck {
  /** A pod without a default route fails. */
  required?: true;
}

/** A datagram gets to the node, and its answer comes back. */
export interface RoundTripCheck extends TimedCheck {
  /** `prefer`: silence passes with a note, because a network policy may be its cause. */
  mode: 'require' | 'prefer';
}

/** The kubelet, which dials the container's startup probe, reaches the pod: no policy denies that. */
export interface WitnessCheck extends TimedCheck {
  /** The port of the startup probe. */
  port: number;
  /** The port to which the mesh redirects connections from outside: the proxy's, free until the proxy starts. */
  inbound?: number;
  /** Subnets whose connections the mesh does not redirect: those come to `port`. */
  exempt?: string[];
}

/** A TCP connect to a host and port succeeds. */
export interface ReachCheck {
  host: string;
  port: number;
  timeout: string;
}

/** The names of checks, each with its settings. A check is an object with exactly one of them. */
export interface CheckSettings {
  redirect: RedirectCheck;
  captured: CapturedCheck;
  interfaces: InterfacesCheck;
  address: TimedCheck;
  gateway: GatewayCheck;
  roundTrip: RoundTripCheck;
  witness: WitnessCheck;
  reach: ReachCheck;
}

export type CheckName = keyof CheckSettings;
/** One check: an object whose only key is its name. */
export type Check = { [Name in CheckName]: Record<Name, CheckSettings[Name]> }[CheckName];

/** A check as the validator gets it: name, settings, and the profile that requests it. */
export type ProfileCheck = { profile: string } & Check;

/** How the program ends. Its exit code is what the kubelet reports. */
export const exitCode = {
  /** Every check passed, or `proof.mode` is `warn` and failures were reported. */
  passed: 0,
  /** The program was called wrongly: `EX_USAGE` of sysexits.h. */
  wrongUsage: 64,
  /** A check could not be made, which says nothing about the network: `EX_UNAVAILABLE` of sysexits.h. */
  notPossible: 69,
  /** The network is not what it should be: the number of linkerd's own validator, so that its tools understand it. */
  failed: 95,
  /** 128 + the signal's number, as in a shell: the pod was deleted before the verdict. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

export type FailureCode = typeof exitCode.failed | typeof exitCode.notPossible;
