import { getOwn } from '../../lib/maps.ts';
import type { Row } from '../judge/catalogue.ts';
import { urgency } from '../judge/nodes.ts';
import { few } from '../judge/row.ts';
import type { Facts } from '../observe/observe.ts';
import { briefOf, reportOf } from '../show/report.ts';
import { ageText } from '../show/table.ts';
import { reportText } from '../show/text.ts';

/** The data of the page, sent as JSON. All texts come from the cluster and are untrusted. */
export type Dashboard = ReturnType<typeof dashboardOf>;

/** A coloured cell: the state of a network on a node, or on all nodes of a pool that are in this state. */
export interface GridCell {
  /** The name of the node or of the pool. */
  name: string;
  /** How many nodes the cell represents. */
  count: number;
  state: string;
  /** Whether the network is ready, but no pod shows a proof. */
  isUnsure: boolean;
  /** Why the network is in this state; for a group, each reason with its number of nodes. */
  why: string;
}

/** Makes the page's data. */
export function dashboardOf(facts: Facts) {
  const report = reportOf(facts, 'status');
  const { time, result, headline, cluster, rows } = report;
  const isYellow = result === 'passed' && rows.some((row) => row.result === 'warning');
  return {
    time,
    result: isYellow ? 'warning' : result,
    headline,
    // why the data may be outdated; null while it is current
    stale: null as string | null,
    name: cluster.context ?? cluster.server,
    grid: gridOf(rows, facts),
    // without the first line, which is the headline
    text: reportText(briefOf(report)).replace(/^.*\n/, ''),
  };
}

/** If there are more nodes than this, the grid shows groups of nodes. */
const mostNodes = 200;

/**
 * The grid: for each network, a cell for each node or group of nodes. Networks are sorted by their worst node, and nodes
 * by their worst network.
 */
function gridOf(all: readonly Row[], facts: Facts) {
  const rows = all.filter(({ check, node }) => check === 'nodes' && node !== null);
  const nodes = [...new Set(rows.map(({ node }) => node ?? ''))];
  const grouped = nodes.length > mostNodes;
  const pool = ({ node }: Row): string =>
    poolOf(node ?? '', facts.readiness.found?.node(node ?? '')?.labels ?? {});
  const bands = Array.from(
    Map.groupBy(rows, ({ object }) => object ?? ''),
    ([network, same]) => {
      const byNode = new Map(same.map((row) => [row.node, row]));
      const cellOf = (name: string): GridCell[] => {
        const row = byNode.get(name);
        if (!row?.state) return [];
        const { state, what: why, since } = row;
        const age = why && since ? ` (for ${ageText(facts.now - Date.parse(since))})` : '';
        return [{ name, count: 1, state, isUnsure: isUnsure(row), why: why + age }];
      };
      return { network, cells: grouped ? groupsOf(same, pool) : nodes.flatMap(cellOf) };
    },
  );
  return { nodes: nodes.length, grouped, bands };
}

/** `checkNodes` gives a ready node a text only if no pod shows a proof. */
const isUnsure = ({ state, what }: Row): boolean => state === 'ready' && what !== '';

/** Groups the nodes of a network by state and pool. The worst state comes first, then the largest group. */
function groupsOf(rows: readonly Row[], pool: (row: Row) => string): GridCell[] {
  const groups = Map.groupBy(rows, (row) => `${row.state} ${isUnsure(row)} ${pool(row)}`);
  const cells = Array.from(groups.values(), (same): GridCell => {
    const [first] = same as [Row];
    const reasons = [...Map.groupBy(same, ({ what }) => what)]
      .toSorted(([, left], [, right]) => right.length - left.length)
      .flatMap(([why, { length }]) => (why === '' ? [] : `${why} (${length})`));
    const names = few(
      same.map((row) => row.node ?? ''),
      3,
    );
    const why = [...(reasons.length > 0 ? [few(reasons, 3, '; ')] : []), `Nodes: ${names}`].join('. ');
    const state = first.state ?? '';
    return { name: pool(first), count: same.length, state, isUnsure: isUnsure(first), why };
  });
  const rank = ({ state }: GridCell): number => urgency.indexOf(state);
  return cells.toSorted((left, right) => rank(left) - rank(right) || right.count - left.count);
}

/** Labels that name a node's pool, in the order in which they are tried. */
const poolLabels = [
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  'topology.kubernetes.io/zone',
];

/** A node's pool: the value of its first label in `poolLabels`, or else its name up to the first digit. */
function poolOf(node: string, labels: Record<string, string>): string {
  const [labelled] = poolLabels.flatMap((label) => getOwn(labels, label) ?? []);
  return labelled ?? (node.replace(/[-.]?\d.*$/, '') || node);
}
