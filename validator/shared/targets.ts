import { type Family, parseAddress } from './addresses.ts';
import type { CapturedCheck, Direction, PolicyCheck, RedirectCheck } from './contract.ts';

export interface Target {
  family: Family;
  host: string;
  port: number;
}

/** Parses `192.0.2.2:1404` or `[2001:db8::2]:1404`. Returns undefined if the text is neither. */
export function parseTarget(text: string): Target | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2] ?? '';
  const address = parseAddress(host);
  const port = Number(match?.[3]);
  if (!address || host.includes(':') !== (match?.[1] !== undefined) || port < 1 || port > 65_535)
    return undefined;
  return { family: host.includes(':') ? 'IPv6' : 'IPv4', host, port };
}

export function targetsOf(texts: string[], family: Family): Target[] {
  return texts.flatMap((text) => parseTarget(text) ?? []).filter((target) => target.family === family);
}

export function formatTarget({ family, host, port }: Target): string {
  return family === 'IPv6' ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A host, which is an address or a name, and a port. */
export interface HostPort {
  host: string;
  port: number;
}

/** Parses `host:port`. Where the kubelet has replaced a variable, an IPv6 address may have no brackets. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^\[?(.+?)\]?:(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  return match?.[1] === undefined || port < 1 || port > 65_535 ? undefined : { host: match[1], port };
}

/** The targets `host:port`, except addresses of a family that the pod does not have. */
export const ofFamilies = (targets: string[], families: Family[]): string[] =>
  targets.filter((target) => {
    const family = parseAddress(parseHostPort(target)?.host ?? '')?.family;
    return family === undefined || families.includes(family);
  });

/** A target with which a check cannot prove a rule. `place` is the target's index in the setting. */
export interface UnfitTarget {
  setting: 'connect' | 'blocked' | 'allowed';
  place: number;
  /** A sentence about the fault, which begins with the target. */
  text: string;
}

type CheckWithTargets =
  | { redirect: Pick<RedirectCheck, 'connect' | 'direction' | 'listen'> }
  | { captured: Pick<CapturedCheck, 'connect' | 'listeners' | 'outbound'> }
  | { policy: Pick<PolicyCheck, 'allowed' | 'blocked'> }
  | object;

/** Returns the unfit targets of a check. The webhook's configuration and the validator both use this function. */
export function unfitTargets(check: CheckWithTargets): UnfitTarget[] {
  if ('redirect' in check) {
    const { connect, direction, listen } = check.redirect;
    return unfit(connect, direction, [listen]);
  }
  if ('policy' in check) {
    const { blocked, allowed = [] } = check.policy;
    return [...unfitHosts('blocked', blocked), ...unfitHosts('allowed', allowed, blocked)];
  }
  if (!('captured' in check)) return [];
  const { connect, listeners, outbound } = check.captured;
  return unfit(connect, 'outbound', [...listeners, outbound]);
}

/** @param ports ports with a listener, where a connection arrives even without a rule */
function unfit(connect: string[], direction: Direction, ports: number[]): UnfitTarget[] {
  return connect.flatMap((target, place) => {
    const fault = faultOf(target, direction, ports);
    return fault === undefined ? [] : [{ setting: 'connect', place, text: `"${target}" ${fault}` }];
  });
}

/** @param others the other list: no target may be in both lists */
function unfitHosts(setting: 'blocked' | 'allowed', targets: string[], others: string[] = []): UnfitTarget[] {
  return targets.flatMap((target, place) => {
    const parsed = parseHostPort(target);
    const faults = [
      ...(parsed === undefined || isWrong(parsed.host) ? ['is no host and port'] : []),
      ...(parsed && staysOnLo(parsed.host) ? ['never leaves the pod: no policy applies'] : []),
      ...(parsed && isNoServer(parsed.host) ? [noServer] : []),
      ...(others.includes(target) ? ['is blocked and allowed'] : []),
    ];
    return faults.map((fault) => ({ setting, place, text: `"${target}" ${fault}` }));
  });
}

function faultOf(target: string, direction: Direction, ports: number[]): string | undefined {
  const parsed = parseTarget(target);
  if (parsed === undefined || isWrong(parsed.host)) return 'is no address and port';
  if (isNoServer(parsed.host)) return noServer;
  if (ports.includes(parsed.port))
    return 'has a port that is listened on: it may be reached without the rule';
  if (direction === 'inbound' || !staysOnLo(parsed.host)) return undefined;
  return 'never leaves the pod: an outbound rule has nothing to do with it';
}

/**
 * Whether a host looks like an IP address but is not a valid one, such as 10.1, which resolvers would complete
 * (inet_aton(3)), or an IPv4 address mapped into IPv6.
 */
const isWrong = (host: string): boolean =>
  /:|(^|\.)(\d+|0x[\da-f]*)$/i.test(host) &&
  parseAddress(host)?.family !== (host.includes(':') ? 'IPv6' : 'IPv4');

const noServer = 'is multicast, broadcast or link-local IPv6, where no connect succeeds';

/** Whether no TCP connect to a host can succeed: its address is of no single host, or needs an interface. */
function isNoServer(host: string): boolean {
  const { family, hex = '' } = parseAddress(host) ?? {};
  return family === 'IPv4' ? /^(e|f{8})/.test(hex) : /^(ff|fe[89ab])/.test(hex);
}

/** Whether a connect stays on `lo`: to 127.0.0.0/8, `::1`, and also the unspecified addresses (ip(7), ipv6(7)). */
function staysOnLo(host: string): boolean {
  const address = parseAddress(host);
  if (address === undefined) return /(^|\.)localhost$/i.test(host);
  return address.family === 'IPv4' ? /^(7f|0{8})/.test(address.hex) : /^0{31}[01]$/.test(address.hex);
}
