import { parseAddress } from '../../validator/shared/addresses.ts';
import type { RedirectCheck } from '../../validator/shared/contract.ts';
import { parseTarget } from '../../validator/shared/targets.ts';
import { allContainers, type Pod, variableOf } from '../admission/pod.ts';
import type { Profile, RedirectSettings } from '../config/types.ts';

/** Whether a proof is about IPv4, and whether about IPv6. */
export interface Families {
  ipv4: boolean;
  ipv6: boolean;
}

/** The families that a mesh serves in a pod; `first` and `all` as in the validator's contract. */
export type Served = Families | 'first' | 'all';

/** What Go's `strconv.ParseBool` takes for true. */
const goTrue = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/**
 * The families that the mesh of this pod serves, as `proof.families` of the profile says where to see; undefined where
 * nothing narrows the proof, or where the variable that should do so cannot be read.
 */
export function familiesIn(pod: Pod, { proof }: Profile): Served | undefined {
  const { families: source } = proof;
  if (source === undefined) return undefined;
  const container = allContainers(pod).find(({ name }) => name === source.container);
  const read = (name: string): string | undefined => container && variableOf(container, name);
  if ('dualStackEnv' in source) return goTrue.has(read(source.dualStackEnv) ?? '') ? 'all' : 'first';
  const value = read(source.env);
  return value === undefined ? undefined : listeningOnAll(value);
}

/** The families of a list of addresses and ports, or undefined where a part of it is none. */
function listeningOnAll(value: string): Families | undefined {
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

/** The settings of a redirect for these families: it keeps the targets of theirs, and all where none would be left. */
export function narrow(
  redirect: RedirectSettings,
  served: Served | undefined,
): RedirectSettings & Pick<RedirectCheck, 'families'> {
  if (served === undefined) return redirect;
  if (typeof served === 'string') return { ...redirect, families: served };
  const connect = redirect.connect.filter((target) => (target.startsWith('[') ? served.ipv6 : served.ipv4));
  return connect.length === 0 ? redirect : { ...redirect, connect };
}
