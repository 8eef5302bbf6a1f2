import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { comparable } from './harness/comparable.ts';
import { requireMachine } from './harness/machine.ts';
import { type NetworkName, type PodSpecimen, specimens } from './harness/pods.ts';
import type { PlatformName, Proof } from './harness/proof.ts';
import { networkNames, networks } from './table/networks.ts';
import { type Outcome, outcomeOf, verdictOf } from './table/outcome.ts';
import { type Plan, runCommand, situations } from './table/plan.ts';
import { keyOf, lastingPartOf, readPage, renderPage } from './table/render.ts';
import { versionsHere } from './table/versions.ts';
import { writerCells } from './table/writers.ts';

/**
 * Every cell of `docs/reference/proof-table.md`, on both platforms; `UPDATE_TABLE=1` writes the page.
 */
before(requireMachine);

const page = new URL('../../docs/reference/proof-table.md', import.meta.url);
const updating = process.env.UPDATE_TABLE === '1';
const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
const recorded = readPage(text);
const outcomes = new Map<string, Outcome>();

interface Cell {
  row: string;
  column: string;
  network: NetworkName;
  plan: Plan;
}

const cells: Cell[] = networkNames.flatMap((network) =>
  situations.flatMap((row) => {
    const plan = networks[network][row];
    return typeof plan === 'string' ? [] : [{ row, column: network, network, plan }];
  }),
);

const isQuick = ({ plan }: Cell): boolean => plan.ends === 0 && plan.while === undefined;

/**
 * The plan on the host and on Node, each in a sandbox of its own. Once more if they differ: on a busy machine, the last
 * attempt of one may see less than that of the other.
 */
async function onBoth(plan: Plan, specimen: PodSpecimen): Promise<[host: Proof, node: Proof]> {
  const platforms: PlatformName[] = ['host', 'node'];
  const runs = (): Promise<Proof[]> =>
    Promise.all(
      platforms.map((platform) => runCommand({ ...plan, options: { ...plan.options, platform } }, specimen)),
    );
  const first = await runs();
  const same = new Set(first.map((proof) => JSON.stringify(comparable(proof)))).size === 1;
  const [host, node] = same ? first : await runs();
  assert.ok(host && node);
  return [host, node];
}

function testCell({ row, column, network, plan }: Cell): void {
  test(`${column}, ${row}`, async () => {
    const [proof, onNode] = await onBoth(plan, specimens[network]);
    const outcome = outcomeOf(proof);
    assert.equal(proof.code, plan.ends, proof.log);
    assert.equal(proof.message.code, proof.code);
    assert.deepEqual(comparable(proof), comparable(onNode), 'Node and the host say the same');
    outcomes.set(keyOf(row, column), outcome);
    if (!updating) assert.equal(verdictOf(outcome), recorded.get(keyOf(row, column)), proof.log);
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
