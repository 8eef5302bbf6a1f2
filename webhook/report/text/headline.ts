import type { Judged } from '../status/status.ts';

/** The result of a status in one line. */
export function headline(status: Judged): string {
  const { verdict, installation, faults, notKnown, unprovedNodes, wayNotShown } = status;
  const [first] = faults;
  switch (verdict) {
    case 'well': {
      const unknown = installation.filter(({ result }) => result === 'not-known' || result === 'skipped');
      const known = unknown.length === 0 ? '' : ', as far as it is known';
      const unproved = unprovedNodes > 0 ? ` Nodes that no pod has proved yet: ${unprovedNodes}.` : '';
      const notSeen =
        unknown.length === 0 ? '' : ` Not known: ${unknown.map(({ what }) => what).join('; ')}.`;
      const silent =
        wayNotShown > 0 ? ` Pods that passed without an answer of their node: ${wayNotShown}.` : '';
      return `All is well${known}${underWay(status)}.${unproved}${silent}${notSeen}`;
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

/** The pods that have waited for less than is a fault. */
function underWay({ pods: { passed, failed, waiting, unproved } }: Judged): string {
  return waiting === 0 ? '' : ` so far: ${waiting} of ${passed + failed + waiting + unproved} pods wait`;
}

/** How many of each kind of trouble there are. */
export function countsOf(status: Judged): string[] {
  const { daemonSets, nodes, heldPods, pods, unprovedNodes } = status;
  const closed = daemonSets
    .filter(({ inUse }) => inUse)
    .flatMap(({ nodes: { ready, exempt, unproved, ...others } }) => Object.values(others));
  const withoutDaemonSet = nodes.filter((one) => one.daemonSet === null && one.state === 'failing').length;
  const counts = {
    'not ready': closed.reduce((sum, one) => sum + one, withoutDaemonSet),
    'pods held': heldPods.length,
    'failed proofs': status.failedPods.length,
    'pods that wait': pods.waiting - heldPods.length,
    'pods without a proof': status.unprovedPods.length,
    'duplicate addresses': status.duplicateAddresses.length,
    'nodes that no pod has proved yet': unprovedNodes,
    faults: status.faults.length,
  };
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${what}: ${count}`] : []));
}
