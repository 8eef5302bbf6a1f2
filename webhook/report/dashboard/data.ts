import type { State } from '../../core/networks/daemon-set-status.ts';
import { getOwn } from '../../lib/maps.ts';
import { few } from '../judge/check-result.ts';
import { type NetworkRow, urgency } from '../judge/networks.ts';
import type { StatusFacts } from '../observe/observe.ts';
import { statusOf, warningsOf } from '../show/status.ts';
import { statusText } from '../show/status-text.ts';
import { ageText } from '../show/table.ts';

/** The data of the page, sent as JSON. All texts come from the cluster and are untrusted. */
export type Dashboard = ReturnType<typeof dashboardOf>;

/**
 * Makes the page's data.
 *
 * @param now milliseconds since the epoch
 */
export function dashboardOf(facts: StatusFacts, now: number) {
  const status = statusOf(facts, now, true);
  const { time, result, headline, cluster, nodes } = status;
  return {
    time,
    result: result === 'well' && warningsOf(status).length > 0 ? 'warning' : result,
    headline,
    // why the data may be outdated; null while it is current
    stale: null as string | null,
    name: cluster.context ?? cluster.server,
    grid: gridOf(nodes, (node) => facts.readiness.node(node)?.labels ?? {}, now),
    // without the first line, which is the headline
    text: statusText(statusOf(facts, now, false), false, { width: 100 }).replace(/^.*\n/, ''),
  };
}

/** A network with a cell for each node or group of nodes. */
export interface Band {
  network: string;
  inUse: boolean;
  cells: GridCell[];
}

/** A coloured cell: the state of a network on a node, or on all nodes of a pool that are in this state. */
export interface GridCell {
  /** The name of the node or of the pool. */
  name: string;
  /** How many nodes the cell represents. */
  count: number;
  /** Null where the network has no state on the node. */
  state: State | null;
  /** Why the network is in this state; for a group, each reason with its number of nodes. */
  why: string;
}

/** If there are more nodes than this, the grid shows groups of nodes. */
const mostNodes = 200;
/** Only this many pools, the largest, are shown by name; the nodes of all others count as one pool. */
const mostPools = 20;

const networkOf = ({ daemonSet, why }: NetworkRow): string => daemonSet ?? why.split(':')[0] ?? '';

/** The grid. Networks are sorted by their worst node, and nodes by their worst network. */
function gridOf(
  rows: readonly NetworkRow[],
  labelsOf: (node: string) => Record<string, string>,
  now: number,
) {
  const nodes = [...new Set(rows.map(({ node }) => node))];
  const grouped = nodes.length > mostNodes;
  const poolOf = grouped ? poolsOf(nodes, labelsOf) : new Map<string, string>();
  const bands = Array.from(Map.groupBy(rows, networkOf), ([network, same]): Band => {
    const byNode = new Map(same.map((row) => [row.node, row]));
    const cellOf = (name: string): GridCell => {
      const { state = null, why = '', since = null } = byNode.get(name) ?? {};
      const age = why === '' || since === null ? '' : ` (for ${ageText(now - Date.parse(since))})`;
      return { name, count: 1, state, why: `${why}${age}` };
    };
    const cells = grouped ? groupsOf(same, poolOf) : nodes.map(cellOf);
    return { network, inUse: same[0]?.inUse ?? false, cells };
  });
  return { nodes: nodes.length, grouped, bands };
}

/** Groups the nodes of a network by state and pool. The worst state comes first, then the largest group. */
function groupsOf(rows: readonly NetworkRow[], poolOf: Map<string, string>): GridCell[] {
  const groups = Map.groupBy(rows, ({ node, state }) => `${state} ${poolOf.get(node)}`);
  const cells = Array.from(groups.values(), (same) => {
    const [{ node, state } = { node: '', state: 'exempt' as const }] = same;
    const counts = [...Map.groupBy(same, (row) => row.why)].map(([why, { length }]) => ({ why, length }));
    const reasons = counts
      .toSorted((left, right) => right.length - left.length)
      .flatMap(({ why, length }) => (why === '' ? [] : `${why} (${length})`));
    const names = few(
      same.map((row) => row.node),
      3,
    );
    const why = [...(reasons.length > 0 ? [few(reasons, 3, '; ')] : []), `Nodes: ${names}`].join('. ');
    return { name: poolOf.get(node) ?? '', count: same.length, state, why };
  });
  return cells.toSorted(
    (left, right) => urgency.indexOf(left.state) - urgency.indexOf(right.state) || right.count - left.count,
  );
}

/** Labels that name a node's pool, in the order in which they are tried. */
const poolLabels = [
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  'topology.kubernetes.io/zone',
];

/** The pool of each node: the first of `poolLabels` that the node has, or else its name up to the first digit. */
function poolsOf(nodes: readonly string[], labelsOf: (node: string) => Record<string, string>) {
  const poolOf = (node: string): string =>
    poolLabels.flatMap((label) => getOwn(labelsOf(node), label) ?? [])[0] ??
    (node.replace(/[-.]?\d.*$/, '') || node);
  const pools = [...Map.groupBy(nodes, poolOf)].toSorted(([, left], [, right]) => right.length - left.length);
  const named = pools.flatMap(([pool, members], at) =>
    members.map((node) => [node, at < mostPools ? pool : 'other pools'] as const),
  );
  return new Map(named);
}
