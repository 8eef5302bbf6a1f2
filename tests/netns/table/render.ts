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

Each cell is the result of the validator in its own network namespace, for a built-in profile, with the address family in
parentheses if only that one fails. The pods are dual-stack, except those of aws-vpc-cni (IPv4). An empty cell means that
the situation does not apply. With \`wrong-user\`, \`port-taken\` and \`no-route\`, the
[exit code](errors.md#exit-codes) is 69; with other reasons it is 95.

iptables-nft writes the rules here. Every correct network also passes with IPv4 and with IPv6 alone; meshes also with
rules by iptables-legacy and nftables, and cilium with its gateway by a link route and on the subnet.

${Object.entries(versions)
  .map(([name, version]) => `- ${name}: ${version}`)
  .join('\n')}

## Meshes

${renderTable(situations, networkNames.slice(0, 3), outcomes)}

## Networks

${renderTable(situations, networkNames.slice(3), outcomes)}

## The way to the node and back

The truth is whether the node can connect to the pod. In parentheses are the states of Cilium 1.20.2 and the AWS plugin
1.23.1. With \`mode: prefer\`, \`node-silent\` passes with a note. \`witness\` tells the truth in each state:
\`not-reached\` if the way of the first address family is broken.

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

The last column is the result of linkerd's or Istio's own validator.

${renderInbound()}
`;
}

/** A row for each combination of outcomes, with all states that have it. */
function grouped(rows: readonly (readonly string[])[]): string[][] {
  const groups = new Map<string, { names: Set<string>; outcomes: string[] }>();
  for (const [name = '', ...outcomes] of rows) {
    const group = groups.get(`${outcomes}`) ?? { names: new Set(), outcomes };
    group.names.add(name);
    groups.set(`${outcomes}`, group);
  }
  return [...groups.values()].map(({ names, outcomes }) => [[...names].join('<br>'), ...outcomes]);
}

function renderStates(): string {
  const rows = states.map(({ what, real, works, address = 'passed', gateway = 'passed', roundTrip }) => {
    const name = real === undefined ? what : `${what} (${real})`;
    return [name, works ? 'works' : 'broken', address, gateway, roundTrip];
  });
  return table(['', 'truth', '`address`', '`gateway`', '`roundTrip`'], grouped(rows));
}

function renderInbound(): string {
  const rows = inboundStates.flatMap(({ what, row, expected }) => {
    const verdict = typeof expected === 'number' ? 'passed' : expected;
    return row === undefined ? [] : [[what, row.truth, verdict, row.own]];
  });
  return table(['', 'truth', 'verdict with `witness`', "the mesh's own validator"], grouped(rows));
}

/** A cell is empty where the situation does not apply to the network. */
function renderTable(rows: readonly string[], columns: readonly string[], outcomes: Outcomes): string {
  const lines = rows
    .map((row) => [row, ...columns.map((column) => outcomes.get(keyOf(row, column)) ?? '')])
    .filter(([, ...cells]) => cells.some((cell) => cell !== ''));
  return table(['', ...columns], grouped(lines));
}

/** The cells of a page by row and column: {@link renderPage} read back. */
export function readPage(page: string): Map<string, string> {
  const verdicts = new Map<string, string>();
  let columns: string[] | undefined;
  for (const line of page.split('\n')) {
    const [names, ...cells] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (names === undefined) columns = undefined;
    else if (columns === undefined) columns = cells;
    else if (!names.startsWith('--')) {
      for (const row of names.split('<br>')) {
        for (const [index, cell] of cells.entries()) {
          if (cell !== '') verdicts.set(keyOf(row, columns[index] ?? ''), cell);
        }
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
