import type { Proof } from './proof.ts';

/**
 * What a run said, without what differs between two runs of the same program in two sandboxes: times, the sandbox's
 * identity, the order in which parallel checks ended, and which of two signs of a gateway came first.
 */
export function comparable({ code, log, message }: Proof): object {
  return {
    code,
    log: withoutChance(log).split('\n').toSorted(),
    message: withoutChance(JSON.stringify({ ...message, seconds: undefined, sandbox: undefined })),
  };
}

const withoutChance = (text: string): string =>
  text
    .replace(/ after \d+\.\d{3} s/g, ' after … s')
    .replace(/the gateway \S+ refuse a datagram, so it exists/g, 'the gateway')
    .replace(/an ARP answer from \S+ on \w+/g, 'the gateway')
    .replace(/a neighbour advertisement come back on asking for [0-9a-f:]+/g, 'the gateway');
