/** How the program ends. Its exit code is what the kubelet reports. */
export const exitCode = {
  /** Every check held, or `proof.mode` is `warn` and all was told. */
  proved: 0,
  /** The program was called wrongly: `EX_USAGE` of sysexits.h. */
  wrongUsage: 64,
  /** The proof could not be made, which says nothing about the network: `EX_UNAVAILABLE` of sysexits.h. */
  unproved: 69,
  /** The network is not what it should be: the number of linkerd's own validator, so that its tools understand it. */
  failed: 95,
  /** 128 + the signal's number, as a shell has it: the pod went away before there was a verdict. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** Exit codes of a check that did not hold. */
export type FailureCode = typeof exitCode.failed | typeof exitCode.unproved;
