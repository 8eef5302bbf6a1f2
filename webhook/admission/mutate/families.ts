import { parseAddress } from '../../../validator/shared/addresses.ts';
import type { RedirectCheck } from '../../../validator/shared/contract.ts';
import { parseTarget } from '../../../validator/shared/targets.ts';
import type { ProfileProof, RedirectSettings } from '../../config/types.ts';
import { allContainers, type Pod, variableOf } from '../pod.ts';

/** Whether a proof covers IPv4, and whether IPv6. */
export interface Families {
  ipv4: boolean;
  ipv6: boolean;
}

/** The families that a mesh serves in a pod; `first` and `all` as in the validator's contract. */
export type Served = Families | 'first' | 'all';

/** The values that Go's `strconv.ParseBool` reads as true. */
const goTrue = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/**
 * Returns the families that the mesh of this pod serves, read from where `proof.families` of the profile points;
 * undefined if nothing limits the proof, or if the variable cannot be read.
 */
export function familiesIn(pod: Pod, { families: source }: ProfileProof): Served | undefined {
  if (source === undefined) return undefined;
  const container = allContainers(pod).find(({ name }) => name === source.container);
  const read = (name: string): string | undefined => container && variableOf(container, name);
  if ('dualStackEnv' in source) return goTrue.has(read(source.dualStackEnv) ?? '') ? 'all' : 'first';
  const value = read(source.env);
  return value === undefined ? undefined : listeningOnAll(value);
}

/** The families of a list of addresses and ports, or undefined if a part of it is invalid. */
function listeningOnAll(value: string): Families | undefined {
  const listening = value.split(',').map((address) => listeningOn(address.trim()));
  if (listening.includes(undefined)) return undefined;
  return {
    ipv4: listening.some((families) => families?.ipv4),
    ipv6: listening.some((families) => families?.ipv6),
  };
}

/** The families that a listener on `address:port` accepts, or undefined if the text is invalid. */
function listeningOn(text: string): Families | undefined {
  const host = parseTarget(text)?.host;
  const address = host === undefined ? undefined : parseAddress(host);
  if (address === undefined) return undefined;
  // an IPv4-mapped IPv6 address is IPv4; a listener on [::] accepts both, unless its host says otherwise: Linux,
  // ipv6(7), IPV6_V6ONLY
  const ipv6 = address.family === 'IPv6';
  return { ipv4: !ipv6 || /^0+$/.test(address.hex), ipv6 };
}

/** The settings of a redirect for these families: it keeps their targets, or all if none would be left. */
export function narrow(
  redirect: RedirectSettings,
  served: Served | undefined,
): RedirectSettings & Pick<RedirectCheck, 'families'> {
  if (served === undefined) return redirect;
  if (typeof served === 'string') return { ...redirect, families: served };
  const connect = redirect.connect.filter((target) => (target.startsWith('[') ? served.ipv6 : served.ipv4));
  return connect.length === 0 ? redirect : { ...redirect, connect };
}
