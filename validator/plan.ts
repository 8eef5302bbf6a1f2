import type { Family } from './addresses.ts';
import { type Failed, failed } from './finding.ts';
import type { Pod } from './pod.ts';
import type { AskedCheck } from './read-checks.ts';
import { targetsOf } from './targets.ts';

/** A check for one address family, or for the pod as a whole. */
export interface Step extends AskedCheck {
  family?: Family;
  /** Where it can be told without looking at the network that it cannot hold. */
  settled?: Failed;
}

/** What is to be looked at, side by side. No check vanishes: one that fits none of the pod's families fails. */
export function plan(asked: AskedCheck[], pod: Pick<Pod, 'families'>): Step[] {
  return asked.flatMap((check): Step[] => {
    const families = familiesFor(check, pod.families);
    if (families === undefined) return [check];
    if (families.length > 0) return families.map((family) => ({ ...check, family }));
    return [{ ...check, settled: nothingToLookAt(pod.families) }];
  });
}

/** The families that a check looks at, or undefined where it looks at the pod as a whole. */
function familiesFor({ check }: AskedCheck, families: Family[]): Family[] | undefined {
  if ('interfaces' in check || 'reach' in check) return undefined;
  if ('address' in check || 'gateway' in check) return families;
  const { connect } = 'redirect' in check ? check.redirect : check.captured;
  // a profile without a target of some family leaves that family to those who know why
  const fitting = families.filter((family) => targetsOf(connect, family).length > 0);
  // Istio writes IPv6 rules only where the pod's first address is one, or with its dual-stack option, which nobody
  // tells us; its own validation follows the pod's first address (tools/istio-iptables, `getLocalIP`)
  return 'redirect' in check && check.redirect.direction === 'inbound' ? fitting.slice(0, 1) : fitting;
}

function nothingToLookAt(families: Family[]): Failed {
  if (families.length === 0) return failed('address-unknown', 'no address of the pod');
  return failed('no-target', `a pod that has ${families.join(' and ')} only`);
}
