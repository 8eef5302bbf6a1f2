import { parseAddress } from '../../validator/addresses.ts';
import type { Check } from '../../validator/contract.ts';
import { parseTarget } from '../../validator/targets.ts';
import { settingsOf } from '../config/checks.ts';
import type { Profile } from '../config/types.ts';
import { allContainers, type Pod } from './pod.ts';

/** Whether a proof is about IPv4, and whether about IPv6. */
export interface Families {
  ipv4: boolean;
  ipv6: boolean;
}

/**
 * The families that the proxy of this pod listens on, as `proof.families` of the profile says where to see; undefined
 * where nothing narrows the proof, or where the variable cannot be read.
 */
export function familiesIn(pod: Pod, { proof }: Profile): Families | undefined {
  const { families: source } = proof;
  if (source === undefined) return undefined;
  const container = allContainers(pod).find(({ name }) => name === source.container);
  // of two with the same name Kubernetes takes the last
  const value = container?.env?.findLast(({ name }) => name === source.env)?.value;
  if (typeof value !== 'string') return undefined;
  const listening = value.split(',').map((address) => listeningOn(address.trim()));
  if (listening.includes(undefined)) return undefined;
  return {
    ipv4: listening.some((families) => families?.ipv4),
    ipv6: listening.some((families) => families?.ipv6),
  };
}

/** The families that a listener on `address:port` takes, or undefined where the text is none. */
function listeningOn(text: string): Families | undefined {
  const host = parseTarget(text)?.host;
  const address = host === undefined ? undefined : parseAddress(host);
  if (address === undefined) return undefined;
  // IPv4 in IPv6's clothes is IPv4; a listener on [::] takes both, unless its host says otherwise: Linux, ipv6(7),
  // IPV6_V6ONLY
  const ipv6 = address.family === 'IPv6';
  return { ipv4: !ipv6 || /^0+$/.test(address.hex), ipv6 };
}

/** The checks with the targets of these families; a check that would be left with none keeps all. */
export function narrow(checks: Check[], families: Families | undefined): Check[] {
  if (families === undefined) return checks;
  return checks.map((check) => {
    const [redirect] = settingsOf([check], 'redirect');
    if (redirect === undefined) return check;
    const connect = redirect.connect.filter((target) =>
      target.startsWith('[') ? families.ipv6 : families.ipv4,
    );
    return connect.length === 0 ? check : { redirect: { ...redirect, connect } };
  });
}
