import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { requireMachine } from './harness/machine.ts';
import { type NetworkName, specimens } from './harness/pods.ts';
import { networkNames, networks } from './table/networks.ts';
import { type Plan, runCommand, situations } from './table/plan.ts';
import { keyOf, lastingPartOf, outcomeOf, readPage, renderPage, versionsHere } from './table/render.ts';
import { writerCells } from './table/writers.ts';

/** Every cell of `docs/reference/proof-table.md`; `UPDATE_TABLE=1` writes the page. */
before(requireMachine);

const page = new URL('../../docs/reference/proof-table.md', import.meta.url);
const updating = process.env.UPDATE_TABLE === '1';
const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
const recorded = readPage(text);
const columns: ReadonlySet<string> = new Set(networkNames);
const outcomes = new Map<string, string>();

interface Cell {
  row: string;
  column: string;
  network: NetworkName;
  plan: Plan;
}

const cells: Cell[] = networkNames.flatMap((network) =>
  situations.flatMap((row) => {
    const plan = networks[network][row];
    return plan === undefined ? [] : [{ row, column: network, network, plan }];
  }),
);

const isQuick = ({ plan }: Cell): boolean => plan.ends === 0 && plan.while === undefined;

function testCell({ row, column, network, plan }: Cell): void {
  test(`${column}, ${row}`, async () => {
    const proof = await runCommand(plan, specimens[network]);
    const outcome = outcomeOf(proof.message);
    assert.equal(proof.code, plan.ends, proof.log);
    assert.equal(proof.message.code, proof.code);
    outcomes.set(keyOf(row, column), outcome);
    // the page has no cells for the writers, but a sentence
    const expected = columns.has(column) ? recorded.get(keyOf(row, column)) : 'passed';
    if (!updating) assert.equal(outcome, expected, proof.log);
  });
}

// few at a time: these take the processor
describe('cells that pass at once', { concurrency: 2 }, () => {
  for (const cell of [...cells, ...writerCells].filter(isQuick)) testCell(cell);
});

// many at a time: these wait for a time-out or a late event
describe('cells that wait', { concurrency: 10 }, () => {
  for (const cell of cells.filter((cell) => !isQuick(cell))) testCell(cell);
});

test('the page equals this run, except versions', async () => {
  assert.equal(outcomes.size, cells.length + writerCells.length, 'a cell failed');
  const rendered = renderPage(outcomes, await versionsHere());
  if (updating) writeFileSync(page, rendered);
  else assert.equal(lastingPartOf(text), lastingPartOf(rendered));
});
