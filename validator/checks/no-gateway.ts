import { type Finding, passed } from '../finding.ts';

/** Where there is no gateway that could answer, there is nothing to prove, and that is said. */
export function noGateway(seen: string): Finding {
  return passed(seen, 'nothing was asked, because there is no gateway at the link layer');
}

/** What a gateway whose link-layer address is known already leaves open: it may have gone since. */
export const knownBefore = (gateway: string, device: string): string =>
  `${gateway} was known on ${device} before this run, so nobody had to answer`;
