import { type Failed, type Finding, mostTelling } from './finding.ts';
import { type Family, formatAddress, parseAddress } from './shared/addresses.ts';
import { type Target, targetsOf } from './shared/targets.ts';

/** Connects to a target, and returns what the connection shows about the mesh's rules. */
export type Ask = (target: Target) => Promise<Finding>;

/**
 * Tries the profile's addresses. If none has a route, tries the API server's address, to which every proxy of a mesh
 * needs a route, at the same port: a redirect happens after routing.
 */
export async function askOutside(
  connect: string[],
  family: Family,
  apiServer: string | undefined,
  ask: Ask,
): Promise<Finding> {
  const targets = targetsOf(connect, family);
  const finding = await askAll(targets, ask);
  const spare = parseAddress(apiServer ?? '');
  if (finding.passed || finding.reason !== 'no-route' || spare?.family !== family) return finding;
  return ask({ family, host: formatAddress(spare), port: targets[0]?.port ?? 0 });
}

/** Tries all targets, and returns the first finding that passes, otherwise the most informative failure. */
export async function askAll(targets: Target[], ask: Ask): Promise<Finding> {
  const some = Promise.any(
    targets.map(async (target) => {
      const finding = await ask(target);
      return finding.passed ? finding : Promise.reject(finding);
    }),
  );
  return some.catch(({ errors }: { errors: Failed[] }) => mostTelling(errors));
}
