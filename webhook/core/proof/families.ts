import type { RedirectCheck } from '../../../validator/shared/contract.ts';
import { allContainers, type Pod, variableOf } from '../facts/pod.ts';
import type { ProfileProof, RedirectSettings } from '../profiles/types.ts';

/**
 * The families that a mesh serves in a pod. `first` and `all` are values of `families` in {@link RedirectCheck}. For
 * `ipv4`, the check has no such field, and only IPv4 targets.
 */
type Served = 'ipv4' | 'first' | 'all';

/** Matches the listeners of a proxy that has only IPv4 addresses. A listener on [::] accepts both families. */
export const onlyIPv4 = /^[0-9.:,]+$/;

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
  return value !== undefined && onlyIPv4.test(value) ? 'ipv4' : undefined;
}

/** The settings of a redirect with only the targets of these families; with all targets if none would remain. */
export function narrow(
  redirect: RedirectSettings,
  served: Served | undefined,
): RedirectSettings & Pick<RedirectCheck, 'families'> {
  if (served === undefined) return redirect;
  if (served !== 'ipv4') return { ...redirect, families: served };
  const connect = redirect.connect.filter((target) => !target.startsWith('['));
  return connect.length === 0 ? redirect : { ...redirect, connect };
}
