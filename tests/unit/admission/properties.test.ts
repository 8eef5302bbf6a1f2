import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { MutateContext } from '../../../webhook/admission/mutate.ts';
import type { Pod } from '../../../webhook/core/facts/pod.ts';
import { type Answer, answerTo, copyOf } from '../../support/answers.ts';
import { contexts } from '../../support/arbitrary/contexts.ts';
import { pods } from '../../support/arbitrary/pods.ts';
import { type Change, changes } from '../../support/between-calls.ts';
import { assertSettled, assertSound } from '../../support/invariants.ts';

/*
 * Pods and configurations are random. A failure prints a seed and a path. To repeat the failure, pass both to
 * `fc.assert` as `{ seed, path }`.
 */

const between = fc.constantFrom(...Object.entries(changes)).map(([name, change]) => named(name, change));

/** Sets the name of a change's function, so that a counterexample shows the name. */
function named(name: string, change: Change): Change {
  return Object.defineProperty((pod: Pod) => change(pod), 'name', { value: name });
}

function call(pod: Pod, context: MutateContext): { answer: Answer; after: Pod } {
  const answer = answerTo(pod, context);
  return { answer, after: assertSound(pod, answer, context.policy) };
}

function changed(pod: Pod, change: Change): Pod {
  const copy = copyOf(pod);
  change(copy);
  return copy;
}

suite('properties of /mutate', () => {
  test('every answer is valid, and a second call changes nothing', () => {
    fc.assert(
      fc.property(pods, contexts, (pod, context) => {
        const { answer, after } = call(pod, context);
        assertSettled(after, answer, (asked) => answerTo(asked, context));
      }),
      { numRuns: 250 },
    );
  });

  test('after any change between calls, one more call restores the injection', () => {
    fc.assert(
      fc.property(pods, contexts, fc.array(between, { maxLength: 5 }), (pod, context, steps) => {
        let { after } = call(pod, context);
        for (const step of steps) {
          const next = call(changed(after, step), context);
          assert.deepEqual(answerTo(next.after, context).patch, []);
          after = next.after;
        }
        const last = call(steps.reduce(changed, after), context);
        assertSettled(last.after, last.answer, (asked) => answerTo(asked, context));
      }),
      { numRuns: 150 },
    );
  });
});
