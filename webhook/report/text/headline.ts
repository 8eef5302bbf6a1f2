import type { Judged } from '../status/status.ts';

/** The result of a status in one line. */
export function headline(status: Judged): string {
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
function underWay({ pods, waits }: Judged): string {
  const { passed, failed, waiting, unproved } = pods;
  const all = passed + failed + waiting + unproved;
  return waits.length > 0 ? ` so far: ${countOf(waits)} of ${all} pods wait (${whatFor(waits)})` : '';
}

const unprovedText = ({ unprovedNodes }: Judged): string =>
  unprovedNodes > 0 ? ` Nodes that no pod has proved yet: ${unprovedNodes}.` : '';

/** So many things that pods wait for are named. */
const mostNamed = 3;

const countOf = (waits: Judged['waits']): number => waits.reduce((sum, { pods }) => sum + pods, 0);

/** What pods wait for, the most of them first. */
const whatFor = (waits: Judged['waits']): string =>
  [
    ...waits.slice(0, mostNamed).map((one) => `${one.pods} for ${one.for}`),
    ...(waits.length > mostNamed ? [`${countOf(waits.slice(mostNamed))} for others`] : []),
  ].join(', ');

/** How many of each kind of trouble there are. */
export function countsOf(status: Judged): string[] {
  const { daemonSets, nodes, waits, unprovedNodes } = status;
  const { heldPods, unprovedPods, failedPods, duplicateAddresses, faults } = status;
  const closed = daemonSets
    .filter(({ inUse }) => inUse)
    .flatMap(({ nodes: { ready, exempt, unproved, ...others } }) => Object.values(others));
  const withoutDaemonSet = nodes.filter((one) => one.daemonSet === null && one.state === 'failing').length;
  const found: [count: number, what: string, more?: string][] = [
    [closed.reduce((sum, one) => sum + one, withoutDaemonSet), 'not ready'],
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
