import type { Status } from './model.ts';

/** The result of a status in one line. */
export function headline(status: Omit<Status, 'headline'>): string {
  const { verdict, installation, faults, notKnown } = status;
  const [first] = faults;
  switch (verdict) {
    case 'well': {
      const unknown = installation.filter(({ result }) => result === 'not-known' || result === 'skipped');
      const reported = unknown.map(({ what }) => what);
      const [known, notSeen] =
        unknown.length === 0 ? ['', ''] : [', as far as it is known', ` Not known: ${reported.join('; ')}.`];
      return `All is well${known}${underWay(status)}.${unprovedText(status)}${notSeen}`;
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
function underWay({ pods, waits }: Omit<Status, 'headline'>): string {
  const { passed, failed, waiting, unproved } = pods;
  const all = passed + failed + waiting + unproved;
  return waits.length > 0 ? ` so far: ${countOf(waits)} of ${all} pods wait (${whatFor(waits)})` : '';
}

const unprovedText = ({ unprovedNodes }: Omit<Status, 'headline'>): string =>
  unprovedNodes > 0 ? ` Nodes that no pod has proved yet: ${unprovedNodes}.` : '';

/** So many things that pods wait for are named. */
const mostNamed = 3;

const countOf = (waits: Status['waits']): number => waits.reduce((sum, { pods }) => sum + pods, 0);

/** What pods wait for, the most of them first. */
const whatFor = (waits: Status['waits']): string =>
  [
    ...waits.slice(0, mostNamed).map((one) => `${one.pods} for ${one.for}`),
    ...(waits.length > mostNamed ? [`${countOf(waits.slice(mostNamed))} for others`] : []),
  ].join(', ');

/** How many of each kind of trouble there are. */
export function countsOf(status: Omit<Status, 'headline'>): string[] {
  const { daemonSets, heldPods, unprovedPods, failedPods, duplicateAddresses, nodeProofs, faults } = status;
  const { waits, unprovedNodes } = status;
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
  const found: [count: number, what: string, more?: string][] = [
    [closed, 'not ready'],
    [withoutDaemonSet, 'failing'],
    [heldPods.length, 'pods held'],
    [failedPods.length, 'failed proofs'],
    [countOf(waits), 'pods that wait', ` (${whatFor(waits)})`],
    [unprovedPods.length, 'pods without a proof'],
    [duplicateAddresses.length, 'duplicate addresses'],
    [unprovedNodes, 'nodes that no pod has proved yet'],
    [faults.length, 'faults'],
  ];
  return found.filter(([count]) => count > 0).map(([count, what, more = '']) => `${what}: ${count}${more}`);
}
