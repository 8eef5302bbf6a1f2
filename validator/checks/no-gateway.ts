import { type Finding, held } from '../finding.ts';

/** Where there is no gateway that could answer, there is nothing to prove, and that is said. */
export function noGateway(seen: string): Finding {
  return held(seen, 'nothing was asked, because there is no gateway at the link layer');
}
