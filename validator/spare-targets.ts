import { addressesOf, readDevices } from './devices.ts';
import { type Failed, failed } from './finding.ts';
import { readRoutes } from './read-text.ts';
import { formatTarget, spareTargets, type Target, withoutOwn } from './shared/targets.ts';

/**
 * Returns the targets to try after these failed, or the failure if others would not help. Others are needed if the
 * requested ones have no route or are addresses of the pod itself: traffic to those stays on `lo`, which the outbound
 * rules of the meshes exclude.
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
