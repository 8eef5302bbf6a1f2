import type { Proof } from './proof.ts';

/**
 * What a run said, without what differs between two runs of the same program in two sandboxes: times, the sandbox's
 * identity, and the order in which parallel checks ended.
 */
export function comparable({ code, log, message }: Proof): object {
  return {
    code,
    log: log
      .replace(/ after \d+\.\d{3} s/g, ' after … s')
      .split('\n')
      .toSorted(),
    message: { ...message, seconds: undefined, sandbox: undefined },
  };
}
