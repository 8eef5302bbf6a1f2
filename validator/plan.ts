import type { Device } from './devices.ts';
import { type Failed, failed } from './finding.ts';
import type { Pod } from './pod.ts';
import type { AskedCheck } from './read-checks.ts';
import { type RedirectFamilies, redirectFamilies } from './redirect-families.ts';
import type { Family } from './shared/addresses.ts';
import { targetsOf } from './shared/targets.ts';

/** A check for one address family, or for the pod as a whole. */
export interface Step extends AskedCheck {
  family?: Family;
  /** Families of the pod that the mesh leaves alone by design: the verdict names them. */
  leftAlone?: Family[];
  /** The failure, if the check cannot pass whatever the network is. */
  settled?: Failed;
}

/**
 * Returns the steps to run in parallel. A check without a family of the pod becomes a step that fails, so no check is
 * lost.
 *
 * @param devices the interfaces of the pod; called only if a mesh chooses one family by them
 */
export function plan(
  asked: AskedCheck[],
  pod: Pick<Pod, 'families'>,
  devices: () => Device[] = () => [],
): Step[] {
  return asked.flatMap((check): Step[] => {
    const families = familiesFor(check, pod.families, devices);
    if (families === undefined) return [check];
    const { proved, leftAlone } = families;
    if (proved.length === 0) return [{ ...check, settled: noFamily(pod.families) }];
    return proved.map((family) => ({ ...check, family, ...(leftAlone.length > 0 && { leftAlone }) }));
  });
}

/** Returns the families that a check covers, or undefined if it covers the pod as a whole. */
function familiesFor(
  { check }: AskedCheck,
  families: Family[],
  devices: () => Device[],
): RedirectFamilies | undefined {
  if ('interfaces' in check || 'reach' in check) return undefined;
  if ('address' in check || 'gateway' in check) return { proved: families, leftAlone: [] };
  const { connect } = 'redirect' in check ? check.redirect : check.captured;
  // a profile without a target of a family does not check that family
  const fitting = families.filter((family) => targetsOf(connect, family).length > 0);
  return 'redirect' in check
    ? redirectFamilies(check.redirect, fitting, devices)
    : { proved: fitting, leftAlone: [] };
}

function noFamily(families: Family[]): Failed {
  if (families.length === 0) return failed('address-unknown', 'no address of the pod');
  return failed('no-target', `a pod that has ${families.join(' and ')} only`);
}
