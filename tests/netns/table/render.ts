import { networkNames, networks } from './networks.ts';
import { type Outcome, verdictOf } from './outcome.ts';
import { situations } from './plan.ts';
import { familyColumns, writerRows } from './writers.ts';

/** Outcomes by row and column of a table. */
export type Outcomes = ReadonlyMap<string, Outcome>;

export const keyOf = (row: string, column: string): string => `${row} | ${column}`;

/** The machine's names and versions, for the head of the page. */
export type Versions = Record<string, string>;

/** The page `docs/reference/proof-table.md`. */
export function renderPage(outcomes: Outcomes, versions: Versions): string {
  return `# Results of the proof by network

\`npm run test:netns\` generates this page with \`UPDATE_TABLE=1\`. Without it, the run compares its results with this page,
except times and versions. Each cell is a run of the validator in its own network namespace, with the container that the
webhook injects for the built-in profile of that network: exit code, reason, and time from start to exit. A reason that
concerns one address family names it. The pods are dual-stack, except those of aws-vpc-cni (IPv4). iptables-nft writes
the meshes' rules. Up to ten cells run in parallel, so a single container is faster: see \`npm run bench:validator\`.

${Object.entries(versions)
  .map(([name, version]) => `- ${name}: ${version}`)
  .join('\n')}

Exit code 0: all checks passed. 95: the network is wrong. 69: the check could not run.

## Networks and situations

${renderTable('', [...situations], networkNames, outcomes)}

A dash and a number: the situation does not apply to that network, because

${absenceReasons.map((reason, index) => `${index + 1}. ${reason}`).join('\n')}

## Rule writers and address families

The network is correct in each of these runs.

${renderTable('', writerRows, familyColumns, outcomes)}
`;
}

/** Why situations do not apply to networks: each reason once, in the order of the table. */
const absenceReasons = [
  ...new Set(situations.flatMap((situation) => networkNames.map((network) => networks[network][situation]))),
].filter((cell) => typeof cell === 'string');

/** The number of the reason why a cell is empty. */
function absenceNumber(row: string, column: string): number {
  const cells: Partial<Record<string, unknown>> = networks[column as (typeof networkNames)[number]];
  return absenceReasons.indexOf(cells[row] as string) + 1;
}

function renderTable(corner: string, rows: string[], columns: string[], outcomes: Outcomes): string {
  const lines = [
    [corner, ...columns],
    ...rows.map((row) => [row, ...columns.map((column) => cellOf(row, column, outcomes))]),
  ];
  const widths =
    lines[0]?.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0))) ?? [];
  const padded = lines.map((line) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [padded[0] ?? [], rule, ...padded.slice(1)].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function cellOf(row: string, column: string, outcomes: Outcomes): string {
  const outcome = outcomes.get(keyOf(row, column));
  if (outcome === undefined) return `— ${absenceNumber(row, column)}`;
  return `${verdictOf(outcome)}, ${(outcome.milliseconds / 1000).toFixed(2)} s`;
}

/** Codes and reasons of a page by row and column: {@link renderPage} read back. */
export function readPage(page: string): Map<string, string> {
  const verdicts = new Map<string, string>();
  let columns: string[] | undefined;
  for (const line of page.split('\n')) {
    const [row, ...cells] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (row === undefined) columns = undefined;
    else if (columns === undefined) columns = cells;
    else if (!row.startsWith('--')) {
      for (const [index, cell] of cells.entries()) {
        const verdict = cell.replace(/, \d+\.\d+ s$/, '');
        if (!verdict.startsWith('—')) verdicts.set(keyOf(row, columns[index] ?? ''), verdict);
      }
    }
  }
  return verdicts;
}

/** The page without what may differ between runs: times, versions and widths of columns. */
export function lastingPartOf(page: string): string {
  return page
    .replace(/^- (Kernel|System|Node|iptables|nftables|iproute2): .*$/gm, '- $1')
    .replace(/, \d+\.\d+ s\b/g, '')
    .replace(/ {2,}\|/g, ' |')
    .replace(/-{2,}/g, '--');
}
