import { parseAddress } from '../../../validator/shared/addresses.ts';
import type { RedirectCheck } from '../../../validator/shared/contract.ts';
import { parseTarget } from '../../../validator/shared/targets.ts';
import { allContainers, type Pod, variableOf } from '../facts/pod.ts';
import type { ProfileProof, RedirectSettings } from '../profiles/types.ts';

/** Which address families a proof covers. */
export interface Families {
  ipv4: boolean;
  ipv6: boolean;
}

/** The families that a mesh serves in a pod. `first` and `all` are values of `families` in {@link RedirectCheck}. */
export type Served = Families | 'first' | 'all';

/** The values that Go's `strconv.ParseBool` reads as true. */
export const goTrue = ['1', 't', 'T', 'true', 'TRUE', 'True'];

/** Returns the families that the mesh of this pod serves; undefined if the proof covers all families. */
export function familiesIn(pod: Pod, { families: source }: ProfileProof): Served | undefined {
  if (source === undefined) return undefined;
  const container = allContainers(pod).find(({ name }) => name === source.container);
  const read = (name: string): string | undefined => container && variableOf(container, name);
  const { env, dualStackEnv } = source;
  if (dualStackEnv !== undefined) return goTrue.includes(read(dualStackEnv) ?? '') ? 'all' : 'first';
  const value = env === undefined ? undefined : read(env);
  return value === undefined ? undefined : listeningOn(value);
}

/** The families that listeners on a list of `address:port` accept; undefined if an item of the list is invalid. */
function listeningOn(list: string): Families | undefined {
  const families = { ipv4: false, ipv6: false };
  for (const text of list.split(',')) {
    const host = parseTarget(text.trim())?.host;
    const address = host === undefined ? undefined : parseAddress(host);
    if (address === undefined) return undefined;
    // an IPv4-mapped IPv6 address is IPv4; a listener on [::] accepts both families, unless the host has another
    // default (Linux, ipv6(7), IPV6_V6ONLY)
    const isIPv6 = address.family === 'IPv6';
    families.ipv6 ||= isIPv6;
    families.ipv4 ||= !isIPv6 || /^0+$/.test(address.hex);
  }
  return families;
}

/** The settings of a redirect with only the targets of these families; with all targets if none is left. */
export function narrow(
  redirect: RedirectSettings,
  served: Served | undefined,
): RedirectSettings & Pick<RedirectCheck, 'families'> {
  if (served === undefined) return redirect;
  if (typeof served === 'string') return { ...redirect, families: served };
  const connect = redirect.connect.filter((target) => (target.startsWith('[') ? served.ipv6 : served.ipv4));
  return connect.length === 0 ? redirect : { ...redirect, connect };
}
