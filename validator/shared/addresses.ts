export type Family = 'IPv4' | 'IPv6';

/** An address in a canonical form: its bytes as hexadecimal digits, 8 for IPv4 and 32 for IPv6. */
export interface Address {
  family: Family;
  hex: string;
}

/** Parses an address (no port, no brackets, no zone). Returns undefined for any other text. */
export function parseAddress(text: string): Address | undefined {
  const hex = text.includes(':') ? hexOfIPv6(text) : hexOfIPv4(text);
  return hex === undefined ? undefined : addressOf(hex);
}

/** Parses a socket's address. Ignores the interface after `%`, because it differs at each end. */
export function parseSocketAddress(text = ''): Address | undefined {
  return parseAddress(text.split('%')[0] ?? '');
}

/** The address with these bytes. An IPv4 address mapped into IPv6 (RFC 4291, 2.5.5.2) becomes IPv4. */
export function addressOf(hex: string): Address {
  const lower = hex.toLowerCase();
  if (lower.length === 32 && lower.startsWith('00000000000000000000ffff'))
    return { family: 'IPv4', hex: lower.slice(24) };
  return { family: lower.length === 8 ? 'IPv4' : 'IPv6', hex: lower };
}

/** The address as RFC 5952 writes it, with `::` for the longest run of zeros, or for the first of equal runs. */
export function formatAddress({ family, hex }: Address): string {
  if (family === 'IPv4') return (hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join('.');
  const text = (hex.match(/.{4}/g) ?? []).map((group) => group.replace(/^0{1,3}/, '')).join(':');
  const runs = text.match(/\b0(?::0)+\b/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  return longest === '' ? text : text.replace(new RegExp(`(^|:)${longest}(:|$)`), '::');
}

/** The address as `connect` expects it: a link-local IPv6 address is followed by its interface. */
export function hostOf(address: Address, device: string): string {
  const text = formatAddress(address);
  return address.family === 'IPv6' && isLinkLocal(address) ? `${text}%${device}` : text;
}

/** Whether an address is in 127.0.0.0/8, or is `::1`. */
export function isLoopback({ family, hex }: Address): boolean {
  return family === 'IPv4' ? hex.startsWith('7f') : /^0{31}1$/.test(hex);
}

/** Whether an address is in 169.254.0.0/16 or fe80::/10. */
export function isLinkLocal({ family, hex }: Address): boolean {
  return family === 'IPv4' ? hex.startsWith('a9fe') : /^fe[89ab]/.test(hex);
}

/** Whether an address is in a subnet such as 10.0.0.0/8. */
export function isIn({ family, hex }: Address, subnet: string): boolean {
  const [text = '', length] = subnet.split('/');
  const start = parseAddress(text);
  const bitsOf = (digits = ''): string =>
    [...digits].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
  const prefix = bitsOf(start?.hex).slice(0, Number(length));
  return start?.family === family && bitsOf(hex).startsWith(prefix);
}

function hexOfIPv4(text: string): string | undefined {
  // a leading zero would mean octal digits to some programs, and the host program refuses it
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes.map((byte) => toHex(byte, 2)).join('') : undefined;
}

function hexOfIPv6(text: string): string | undefined {
  const lastColon = text.lastIndexOf(':');
  const dotted = text.includes('.') ? hexOfIPv4(text.slice(lastColon + 1)) : '';
  if (dotted === undefined) return undefined;
  const plain =
    dotted === '' ? text : `${text.slice(0, lastColon + 1)}${dotted.slice(0, 4)}:${dotted.slice(4)}`;
  const halves = plain.split('::');
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.map((group) => group.toLowerCase().padStart(4, '0')).join('');
}

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
