import { type Family, parseAddress } from './addresses.ts';

/** Where to connect to. */
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

/** The targets of one family among those texts. */
export function targetsOf(texts: string[], family: Family): Target[] {
  return texts.flatMap((text) => parseTarget(text) ?? []).filter((target) => target.family === family);
}

/** The target as {@link parseTarget} reads it. */
export function formatTarget({ family, host, port }: Target): string {
  return family === 'IPv6' ? `[${host}]:${port}` : `${host}:${port}`;
}
