import type { Check } from '../../validator/contract.ts';
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
  const value = container?.env?.find(({ name }) => name === source.env)?.value;
  if (typeof value !== 'string') return undefined;
  const addresses = value.split(',').map((address) => address.trim());
  // a listener on [::] takes IPv4 too, unless its host says otherwise: Linux, ipv6(7), IPV6_V6ONLY
  const ipv6 = addresses.some((address) => address.startsWith('['));
  const ipv4 = addresses.some((address) => /^\d+(\.\d+){3}:/.test(address) || address.startsWith('[::]:'));
  return ipv4 || ipv6 ? { ipv4, ipv6 } : undefined;
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
