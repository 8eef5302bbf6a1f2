import { type Finding, passed } from '../finding.ts';

/** Passes with a note, because no gateway could answer. */
export function noGateway(seen: string): Finding {
  return passed(seen, 'nothing was asked, because there is no gateway at the link layer');
}

/** The note for a gateway whose link-layer address was known before: it may have disappeared since. */
export const knownBefore = (gateway: string, device: string): string =>
  `${gateway} was known on ${device} before this run, so no answer was needed`;
