import type { Status } from './model.ts';

/** The result of a status in one line. */
export function headline(status: Omit<Status, 'headline'>): string {
  const { verdict, installation, faults, notKnown } = status;
  const [first] = faults;
  switch (verdict) {
    case 'well': {
      const unknown = installation.filter(({ inOrder }) => inOrder === null);
      if (unknown.length === 0) return 'All is well.';
      const reported = unknown.map(({ object, what }) => `${object} (${what})`);
      return `All is well, as far as it is known. Not known: ${reported.join('; ')}.`;
    }
    case 'not-known':
      return `It is not known whether all is well. Not known: ${notKnown.join('; ')}.`;
    case 'not-installed':
      return first?.message ?? 'cni-gate is not installed.';
    case 'not-well':
      return first === undefined
        ? `Not all is well: ${countsOf(status).join(', ')}.`
        : `Not all is well: ${first.message} (${first.code})`;
  }
}

/** How many of each kind of trouble there are. */
export function countsOf(status: Omit<Status, 'headline'>): string[] {
  const {
    daemonSets,
    heldPods,
    unprovedPods,
    failedPods,
    waitingPods,
    duplicateAddresses,
    nodeProofs,
    faults,
  } = status;
  const closed = daemonSets
    .filter(({ inUse }) => inUse)
    .map(({ nodes: { ready, exempt, unproved, ...others } }) =>
      Object.values(others).reduce((sum, one) => sum + one, 0),
    )
    .reduce((sum, one) => sum + one, 0);
  // a network without a DaemonSet fails as well
  const counted = new Set(status.nodes.filter(({ state }) => state === 'failing').map(({ node }) => node));
  const withoutDaemonSet = nodeProofs.filter(
    ({ state, node }) => state === 'failing' && !counted.has(node),
  ).length;
  const found: [number, string][] = [
    [closed, 'not ready'],
    [withoutDaemonSet, 'failing'],
    [heldPods.length, 'pods held'],
    [failedPods.length, 'failed proofs'],
    [waitingPods.length, 'pods that wait on a node'],
    [unprovedPods.length, 'pods without a proof'],
    [duplicateAddresses.length, 'duplicate addresses'],
    [faults.length, 'faults'],
  ];
  return found.filter(([count]) => count > 0).map(([count, what]) => `${what}: ${count}`);
}
