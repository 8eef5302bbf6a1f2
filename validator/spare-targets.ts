import { addressesOf, readDevices } from './devices.ts';
import { readRoutes } from './read-routes.ts';
import { spareTargets, type Target } from './targets.ts';

/** Targets that have a route where the wanted ones have none. */
export function readSpareTargets(wanted: Target[], apiServer: string | undefined): Target[] {
  const [first] = wanted;
  if (!first) return [];
  return spareTargets(first, readRoutes(first.family), addressesOf(readDevices()), apiServer);
}
