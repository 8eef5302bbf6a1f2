import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Reason, reasons } from '../../validator/reasons.ts';
import { type NetworkName, specimens } from './harness/pods.ts';
import type { Message } from './harness/proof.ts';
import { ambientCells } from './table/ambient.ts';
import { istioCells, linkerdCells } from './table/meshes.ts';
import { multusCells } from './table/multus.ts';
import { type Cell, type Cells, runCommand } from './table/plan.ts';
import { awsCells, ciliumCells } from './table/plugins.ts';
import { writerCells } from './table/writers.ts';

/* All situations of these built-in profiles. docs/reference/proof-table.md summarizes the results. */
const networks: Record<NetworkName, Cells> = {
  linkerd: linkerdCells,
  istio: istioCells,
  'istio-ambient': ambientCells,
  cilium: ciliumCells,
  'aws-vpc-cni': awsCells,
  multus: multusCells,
};

interface Run {
  title: string;
  network: NetworkName;
  cell: Cell;
}

const runs: Run[] = [
  ...Object.entries(networks).flatMap(([network, cells]) =>
    Object.entries(cells).map(([situation, cell]) => ({
      title: `${network}, ${situation}`,
      network: network as NetworkName,
      cell,
    })),
  ),
  ...writerCells.map(({ row, column, network, plan }) => ({
    title: `${column}, ${row}`,
    network,
    cell: plan,
  })),
];

const isQuick = ({ cell }: Run): boolean => cell.fails === undefined && cell.while === undefined;

/** `passed`, or the reasons of the failed checks. Families are listed if only some of them failed. */
function outcomeOf({ checks, verdict }: Message): string {
  const failed = checks.filter((check) => !check.passed);
  if (failed.length === 0) return verdict;
  const outcomes = [...new Set(failed.map(({ reason }) => reason ?? 'no reason'))].map((reason) => {
    const alike = failed.filter((check) => check.reason === reason);
    const names = new Set(alike.map(({ check }) => check));
    const all = checks.filter(({ check }) => names.has(check)).length === alike.length;
    const families = alike.map(({ family }) => family).filter((family) => family !== undefined);
    return all || families.length === 0 ? reason : `${reason} (${families.join(', ')})`;
  });
  return outcomes.join(', ');
}

function testRun({ title, network, cell }: Run): void {
  test(title, async () => {
    const { code, message, log } = await runCommand(cell, specimens[network]);
    const { fails = 'passed', says = /^/ } = cell;
    assert.equal(outcomeOf(message), fails, log);
    assert.equal(code, fails === 'passed' ? 0 : reasons[fails.split(' ')[0] as Reason].code, log);
    assert.equal(message.code, code);
    assert.match(log, says);
  });
}

// few at the same time, because these need processor time
describe('situations that pass immediately', { concurrency: 2 }, () => runs.filter(isQuick).forEach(testRun));

// many at the same time, because these mostly wait for a time-out or a late event
describe('situations that wait', { concurrency: 10 }, () =>
  runs.filter((run) => !isQuick(run)).forEach(testRun),
);
