import { readFileSync } from 'node:fs';
import { availableParallelism, release } from 'node:os';
import { table } from '../../../release/reference/tables.ts';
import { run } from '../../support/run.ts';
import type { Message } from '../harness/proof.ts';
import { inboundStates } from './inbound.ts';
import { networkNames } from './networks.ts';
import { situations } from './plan.ts';
import { states } from './states.ts';

/** Outcomes by row and column of a table. */
export type Outcomes = ReadonlyMap<string, string>;

export const keyOf = (row: string, column: string): string => `${row} | ${column}`;

/** The machine's names and versions, for the head of the page. */
export type Versions = Record<string, string>;

/** The page `docs/reference/proof-table.md`. */
export function renderPage(outcomes: Outcomes, versions: Versions): string {
  return `# Results of the proof by network

Each cell is the result of a run of the validator in its own network namespace, for a built-in profile, with the address
family in parentheses if only that one fails. The pods are dual-stack, except those of aws-vpc-cni (IPv4). iptables-nft
writes the meshes' rules. \`UPDATE_TABLE=1 npm run suite netns\` writes this page.

${Object.entries(versions)
  .map(([name, version]) => `- ${name}: ${version}`)
  .join('\n')}

With \`passed\`, the [exit code](errors.md#exit-codes) is 0. With \`wrong-user\`, \`port-taken\` and
\`no-route\`, it is 69: the check could not run. With other reasons it is 95: the network is wrong.

## Networks and situations

### Meshes

${renderTable(situations, networkNames.slice(0, 3), outcomes)}

### Networks

${renderTable(situations, networkNames.slice(3), outcomes)}

In empty cells, [the situation does not apply](../../tests/netns/table/networks.ts).

## The way to the node and back

\`round-trip.test.ts\` makes each state in namespaces, and compares what the checks say with the truth: whether the node
can connect to the pod. In parentheses are the states of Cilium 1.20.2 and the AWS plugin 1.23.1 that it stands for. With
\`mode: prefer\`, \`node-silent\` passes with a note. \`witness\` says the truth in each state: \`not-reached\` if the way
of the first address family is broken. A mesh's own validator was not run here: it does not leave the pod.

${renderStates()}

## What no check sees

- What is beyond the node: other nodes, Services, DNS, \`ip_forward\`, SNAT, the MTU. With Cilium and masquerading, also pods
  without programs: the node answers both ways, and nothing else does.
- The way of a Multus network or a second NIC, such as a peer in the wrong bridge. Checks see that the interface is there.
- One silent gateway of a multipath default route, and strict \`rp_filter\` beside an interface in the node's network.
- Only \`witness\` sees what concerns TCP alone, such as broken checksums, and a physical router in the node's place:
  \`roundTrip\` passes with a note on the router. \`roundTrip\` also passes on an answer that the pod gives itself (a local
  route, a UDP redirect), or that a filter at the node's end gives ("port unreachable").
- The inbound redirect: without \`witness\`, and in ambient mode. With \`witness\`, if the mesh exempts the kubelet.

## A mesh's rules and the kubelet as witness

The last column was measured beside linkerd's and Istio's own validators; \`witness.test.ts\` makes the states.

${renderInbound()}

## Rule writers and address families

Every correct network is \`passed\` with IPv4, with IPv6 and with both: each mesh with rules by iptables-nft,
iptables-legacy and nftables, cilium with its gateway by a link route and on the subnet, aws-vpc-cni, and multus.
`;
}

/** A row for each outcome, with all states that have it. */
function renderStates(): string {
  const rows = new Map<string, { names: Set<string>; outcome: string[] }>();
  for (const { what, real, works, address = 'passed', gateway = 'passed', roundTrip } of states) {
    const outcome = [works ? 'works' : 'broken', address, gateway, roundTrip];
    const row = rows.get(`${outcome}`) ?? { names: new Set(), outcome };
    row.names.add(real === undefined ? what : `${what} (${real})`);
    rows.set(`${outcome}`, row);
  }
  const lines = [...rows.values()].map(({ names, outcome }) => [[...names].join('<br>'), ...outcome]);
  return table(['', 'truth', '`address`', '`gateway`', '`roundTrip`'], lines);
}

function renderInbound(): string {
  const rows = inboundStates.flatMap(({ what, row, expected }) => {
    const verdict = typeof expected === 'number' ? 'passed' : expected;
    return row === undefined ? [] : [[what, row.truth, verdict, row.own]];
  });
  return table(['', 'truth', 'verdict with `witness`', "the mesh's own validator"], rows);
}

/** A cell is empty where the situation does not apply to the network. */
function renderTable(rows: readonly string[], columns: readonly string[], outcomes: Outcomes): string {
  const lines = rows
    .map((row) => [row, ...columns.map((column) => outcomes.get(keyOf(row, column)) ?? '')])
    .filter(([, ...cells]) => cells.some((cell) => cell !== ''));
  return table(['', ...columns], lines);
}

/** The cells of a page by row and column: {@link renderPage} read back. */
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
        if (cell !== '') verdicts.set(keyOf(row, columns[index] ?? ''), cell);
      }
    }
  }
  return verdicts;
}

/** The page without the versions, which may differ between runs. */
export function lastingPartOf(page: string): string {
  return page.replace(/^- (Kernel|System|Node|iptables|nftables|iproute2): .*$/gm, '- $1');
}

/**
 * The content of a cell of the table: `passed`, or the reasons of the checks that did not pass, each with its families
 * where it is not that of all of them.
 */
export function outcomeOf({ checks, verdict }: Message): string {
  const failed = checks.filter((check) => !check.passed);
  const reasons = [...new Set(failed.map((check) => check.reason ?? 'no reason'))];
  if (reasons.length === 0) return verdict;
  return reasons
    .map((reason) => {
      const families = failed.filter((check) => check.reason === reason).map((check) => check.family);
      const words = new Set(failed.filter((check) => check.reason === reason).map((check) => check.check));
      const all = checks.filter((check) => words.has(check.check)).length === families.length;
      const named = families.filter((family) => family !== undefined);
      return all || named.length === 0 ? reason : `${reason} (${named.join(', ')})`;
    })
    .join(', ');
}

/** The machine that generated the table. */
export async function versionsHere(): Promise<Versions> {
  const [nft, legacy, nftables, iproute] = await Promise.all([
    run('iptables-nft', ['--version']),
    run('iptables-legacy', ['--version']),
    run('nft', ['--version']),
    run('ip', ['-Version']),
  ]);
  const system = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
  return {
    Kernel: `Linux ${/^\d+\.\d+/.exec(release())?.[0]}, ${process.arch}, ${availableParallelism()} cores`,
    System: system,
    Node: process.version,
    iptables: `${nft.trim()}; ${legacy.trim()}`,
    nftables: nftables.trim(),
    iproute2: iproute.trim(),
  };
}
