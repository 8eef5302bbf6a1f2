import type { Continuous, WitnessCheck } from '../../../validator/shared/contract.ts';
import { quoted } from '../../lib/clean.ts';
import { getOwn } from '../../lib/maps.ts';
import type { InboundRedirect, Profile } from '../profiles/types.ts';
import type { Place } from './ids.ts';
import { portsOf, withoutOctals } from './skipped-ports.ts';
import { declaredPorts, firstPort, includedPorts } from './witness.ts';

/** The rechecks of a pod: their settings, or why the pod's checks are not repeated. */
export type Rechecks = { settings?: Continuous; exclusion?: [annotation: string, value: string] } | string;

/**
 * The rechecks that the profiles require; undefined if none does. The readiness probe needs a port of the pod that the
 * mesh does not redirect, because a proxy accepts each connection that it gets. `exclusion` is the annotation that
 * exempts the port. The result is the same in a later call, which sees this annotation.
 */
export function rechecksFor(
  place: Place,
  profiles: readonly Profile[],
  witness: WitnessCheck | undefined,
): Rechecks | undefined {
  const continuous = profiles.find(({ proof }) => proof.continuous !== undefined)?.proof.continuous;
  if (continuous === undefined) return undefined;
  if (witness === undefined) return 'the kubelet is no witness of the pod';
  const { interval, failures, onFailure, policy } = continuous;
  const rest = { interval, failures, ...(policy && { policy: true as const }) };
  if (onFailure === 'log') return { settings: rest };
  const mesh = profiles.find(({ proof }) => proof.inbound !== undefined);
  const port = freePort(place, mesh?.proof.inbound, witness);
  if (port === undefined) return 'the pod has no free port for the readiness probe';
  const exclusion = mesh && exclusionOf(port, mesh, place, profiles);
  if (typeof exclusion === 'string') return exclusion;
  return { settings: { port, ...rest }, ...(exclusion && { exclusion }) };
}

/**
 * The first port that no container declares, that the witness and the mesh do not use, and that the mesh's list of
 * included ports does not contain.
 */
function freePort(
  place: Place,
  inbound: InboundRedirect | undefined,
  witness: WitnessCheck,
): number | undefined {
  const ofMesh = inbound ? [inbound.port, ...(inbound.neverRedirected ?? [])] : [];
  const included = includedPorts(place, inbound) ?? '';
  return firstPort(portsOf([...declaredPorts(place), witness.port, ...ofMesh, included].join()));
}

/**
 * The annotation that exempts the port from the redirect; undefined if none is needed; the reason, as a text, if none
 * is possible.
 */
function exclusionOf(
  port: number,
  { name, proof: { inbound } }: Profile,
  place: Place,
  profiles: readonly Profile[],
): [string, string] | string | undefined {
  // with a list of included ports, the mesh redirects no other port, and reads no list of excluded ports
  if (inbound === undefined || includedPorts(place, inbound) !== undefined) return undefined;
  const { excludedPorts: key, inherited } = inbound;
  if (key === undefined) return `profile "${name}" has no proof.inbound.excludedPorts`;
  const ofNamespace = inherited ? getOwn(place.namespace.annotations, key) : undefined;
  const value = getOwn(place.pod.metadata.annotations, key) || (ofNamespace ?? '');
  if (portsOf(withoutOctals(value))[port] === 1) return undefined;
  const setting = profiles.find(({ annotations }) => Object.hasOwn(annotations, key));
  if (setting !== undefined) return `profile "${setting.name}" sets ${key}`;
  const items = value.split(',').flatMap((item) => item.trim() || []);
  if (!items.every((item) => /^\d+(-\d+)?$/.test(item)))
    return `${key} is no list of ports: "${quoted(value)}"`;
  return [key, [...items, port].join()];
}
