import { parseAddress } from './addresses.ts';
import type { CapturedCheck, Direction, RedirectCheck } from './contract.ts';
import { parseTarget } from './targets.ts';

/** A target of a check, by its place in `connect`, that would prove nothing of a rule whatever comes of it. */
export interface UnfitTarget {
  place: number;
  /** What is wrong with it: a sentence that begins with the target. */
  text: string;
}

/** What of a check its targets are judged by. */
type CheckWithTargets =
  | { redirect: Pick<RedirectCheck, 'connect' | 'direction' | 'listen'> }
  | { captured: Pick<CapturedCheck, 'connect' | 'listeners' | 'outbound'> }
  | object;

/** The targets of a check that are unfit. The injector's configuration and the program go by the same. */
export function unfitTargets(check: CheckWithTargets): UnfitTarget[] {
  if ('redirect' in check) {
    const { connect, direction, listen } = check.redirect;
    return unfit(connect, direction, [listen]);
  }
  if (!('captured' in check)) return [];
  const { connect, listeners, outbound } = check.captured;
  return unfit(connect, 'outbound', [...listeners, outbound]);
}

/** @param ports where somebody listens: what goes there arrives without a rule */
function unfit(connect: string[], direction: Direction, ports: number[]): UnfitTarget[] {
  return connect.flatMap((target, place) => {
    const fault = faultOf(target, direction, ports);
    return fault === undefined ? [] : [{ place, text: `"${target}" ${fault}` }];
  });
}

function faultOf(target: string, direction: Direction, ports: number[]): string | undefined {
  const parsed = parseTarget(target);
  if (parsed === undefined) return 'is no address and port';
  if (ports.includes(parsed.port))
    return 'has a port that is listened on: it may be reached without the rule';
  if (direction === 'inbound' || !staysOnLo(parsed.host)) return undefined;
  return 'never leaves the pod: an outbound rule has nothing to do with it';
}

/** 127.0.0.0/8, `::1`, and the unspecified addresses, which a connect takes for those (ip(7), ipv6(7)). */
function staysOnLo(host: string): boolean {
  const address = parseAddress(host);
  if (address === undefined) return false;
  return address.family === 'IPv4' ? /^(7f|0{8})/.test(address.hex) : /^0{31}[01]$/.test(address.hex);
}
