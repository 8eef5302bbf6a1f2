import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isCollection, isPair, isScalar, type Pair, visit, type YAMLMap } from 'yaml';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { type Answer, answerTo, patched } from '../support/answers.ts';
import { assertSettled, assertSound } from '../support/invariants.ts';
import { beginningOf, contextOf, type Expectation, readCase } from './case.ts';
import { expectationOf } from './expectation.ts';

/*
 * Each file in `cases/` contains a pod and the answer that `/mutate` must give, so the folder specifies `/mutate`.
 * `UPDATE_GOLDEN=1` writes the current answers into the files; review the diff before you commit the files.
 */

const folder = new URL('./cases/', import.meta.url);
const update = process.env.UPDATE_GOLDEN === '1';

suite('golden cases', () => {
  for (const name of readdirSync(folder).sort()) {
    test(basename(name, '.yaml'), () => holds(new URL(name, folder)));
  }
});

function holds(file: URL): void {
  const { golden, document } = readCase(file);
  const { pod, request } = beginningOf(golden);
  const context = contextOf(golden);
  const ask = (asked: Pod): Answer => answerTo(asked, context, request);
  const answers: Answered[] = [];
  let differs = false;
  let current = pod;
  const calls = [{ expect: golden.expect }, ...(golden.calls ?? [])];
  for (const [index, call] of calls.entries()) {
    current = patched(current, 'others' in call ? (call.others ?? []) : []);
    const answer = ask(current);
    const seen = expectationOf(answer);
    const place = index === 0 ? ['expect'] : ['calls', index - 1, 'expect'];
    answers.push({ place, seen });
    differs ||= !isDeepStrictEqual(call.expect, seen);
    assert.ok(
      update || call.expect,
      `no ${place.join('.')} in this case: run with UPDATE_GOLDEN=1, and read the diff`,
    );
    if (!update) assert.deepEqual(seen, call.expect);
    current = assertSound(current, answer, context.policy);
    assertSettled(current, answer, ask);
  }
  if (!differs) return;
  write(answers, document);
  writeFileSync(file, document.toString({ lineWidth: 0 }));
}

interface Answered {
  place: (string | number)[];
  seen: Expectation;
}

/** Writes the answers into the document. If later calls get equal answers, all but the first become YAML aliases. */
function write(answers: Answered[], document: Document): void {
  for (const [at, { place, seen }] of answers.entries()) {
    const earlier = answers.slice(1, at).find((one) => isDeepStrictEqual(one.seen, seen));
    const node = document.createNode(seen);
    visit(node, { Pair: onOneLine });
    const before = earlier && (document.getIn(earlier.place, true) as YAMLMap);
    document.setIn(place, before ? document.createAlias(before, seen.outcome) : node);
  }
}

/** Writes a map or list of plain values on one line, as people write the rest of a case. */
function onOneLine(_: unknown, { key, value }: Pair): void {
  if (!isCollection(value) || ['patch', 'warnings'].includes(String(key))) return;
  value.flow = value.items.every((item) => isScalar(isPair(item) ? item.value : item));
}
