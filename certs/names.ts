import { isIP } from 'node:net';
import { CniGateError } from '../webhook/lib/errors.ts';

/** A name that a certificate can be issued for. */
export interface AltName {
  kind: 'dns' | 'ip';
  /** In one spelling: lower case, IPv6 in its shortest form. */
  text: string;
}

/** A label of a host name: letters, digits and inner hyphens, 63 characters at most (RFC 1123, 2.1). */
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads the names a serving certificate is asked for, without those that come twice.
 *
 * @param names DNS names, IPv4 and IPv6 addresses. Wildcards are refused: an API server calls a webhook by one
 *   name. So are names that end in a number, which are addresses with a slip in them (RFC 1123, 2.1), and IPv6
 *   addresses with a zone, which mean something on one machine only.
 * @throws CniGateError CNI_GATE_USAGE where there is no name, or one that is neither
 */
export function readNames(names: readonly string[]): AltName[] {
  if (names.length === 0) {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      'A serving certificate needs at least one name; none was given.',
    );
  }
  return [...new Map(names.map(readName).map((name) => [name.text, name])).values()];
}

function readName(name: string): AltName {
  if (isIP(name) !== 0 && !name.includes('%')) {
    return { kind: 'ip', text: usualAddress(name) };
  }
  const text = name.toLowerCase();
  const labels = text.split('.');
  const isDns = text.length <= 253 && labels.every((part) => label.test(part));
  if (!isDns || /^\d+$/.test(labels.at(-1) ?? '')) {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      `A serving certificate is for DNS names (such as cni-gate.cni-gate.svc) and IP addresses; ${JSON.stringify(name)} is neither.`,
    );
  }
  return { kind: 'dns', text };
}

/**
 * The shortest spelling of an IP address, `2001:db8::1` for `2001:DB8:0:0:0:0:0:1`. An embedded IPv4 address
 * becomes hexadecimal, which node-forge needs: it takes whatever has a dot in it for IPv4.
 */
export function usualAddress(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address;
}

/**
 * The DNS names and IP addresses in `X509Certificate.subjectAltName`, which is a line such as
 * `DNS:a.example, IP Address:192.0.2.1`. Values that hold a comma or a quote come as JSON strings (Node, since the
 * repair of CVE-2021-44532), so a value cannot pass itself off as a further name.
 *
 * @param line the property as Node gives it: undefined where the certificate has no such extension
 */
export function namesIn(line: string | undefined): string[] {
  const names: string[] = [];
  for (const [, kind, value = ''] of (line ?? '').matchAll(/([^:,"]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy)) {
    const text = value.startsWith('"') ? String(JSON.parse(value)) : value;
    if (kind === 'DNS') names.push(text);
    if (kind === 'IP Address') names.push(usualAddress(text));
  }
  return names;
}
