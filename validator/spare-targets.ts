import { addressesOf, readDevices } from './devices.ts';
import { type Failed, failed } from './finding.ts';
import { readRoutes } from './read-text.ts';
import { formatTarget, spareTargets, type Target, withoutOwn } from './shared/targets.ts';

/**
 * The targets to try after these failed, or the failure where no others would tell more. Others are needed where the
 * wanted ones have no route, and where they are addresses of the pod itself: what goes to those stays on `lo`, which
 * the outbound rules of the meshes leave alone.
 */
export function otherTargets(
  wanted: Target[],
  failure: Failed,
  apiServer: string | undefined,
): Target[] | Failed {
  const [first] = wanted;
  if (!first) return failure;
  const devices = readDevices();
  const foreign = withoutOwn(
    wanted,
    devices.flatMap(({ addresses }) => addresses),
  );
  if (failure.reason !== 'no-route' && foreign.length === wanted.length) return failure;
  const spares = spareTargets(first, readRoutes(first.family), addressesOf(devices), apiServer);
  const others = failure.reason === 'no-route' ? spares : [...foreign, ...spares];
  if (others.length > 0) return others;
  if (failure.reason === 'no-route') return failure;
  const own = wanted.map(formatTarget).join(' and ');
  return failed('no-target', `no address to connect to but the pod's own ${own}`);
}
