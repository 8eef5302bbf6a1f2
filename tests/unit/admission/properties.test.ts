import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { MutateContext } from '../../../webhook/admission/mutate.ts';
import type { Pod } from '../../../webhook/core/facts/pod.ts';
import { podInfoVolume, validatorContainer } from '../../../webhook/lib/names.ts';
import { quantity } from '../../../webhook/lib/quantity.ts';
import { type Answer, answerTo, copyOf } from '../../support/answers.ts';
import { contexts } from '../../support/arbitrary/contexts.ts';
import { pods } from '../../support/arbitrary/pods.ts';
import { tampering } from '../../support/arbitrary/tampering.ts';
import { type Change, changes } from '../../support/between-calls.ts';
import { assertSettled, assertSound } from '../../support/invariants.ts';
import { dropEmpty } from '../../support/untouched.ts';

/*
 * Pods and configurations made at random. A failure prints the seed and the path that bring it back: give them to
 * `fc.assert` as `{ seed, path }`.
 */

const between = fc.constantFrom(...Object.entries(changes)).map(([name, change]) => named(name, change));

/** A change that a counterexample shows by its name. */
function named(name: string, change: Change): Change {
  return Object.defineProperty((pod: Pod) => change(pod), 'name', { value: name });
}

async function call(pod: Pod, context: MutateContext): Promise<{ answer: Answer; after: Pod }> {
  const answer = await answerTo(pod, context);
  return { answer, after: assertSound(pod, answer) };
}

function changed(pod: Pod, change: Change): Pod {
  const copy = copyOf(pod);
  change(copy);
  return copy;
}

function withoutOurs(pod: Pod): Pod {
  const copy = copyOf(pod);
  const { spec } = copy;
  spec.initContainers = (spec.initContainers ?? []).filter(({ name }) => name !== validatorContainer);
  spec.volumes = (spec.volumes ?? []).filter(({ name }) => name !== podInfoVolume);
  return copy;
}

/**
 * Our container without differences that have no effect: nulls, resources that do not decide the pod's class, and the
 * spelling of a quantity (`0Mi` and `0Ki`).
 */
function oursIn(pod: Pod): unknown {
  const copy = copyOf(pod);
  dropEmpty(copy);
  const ours = copy.spec.initContainers?.find(({ name }) => name === validatorContainer);
  const { requests, limits } = (copy.spec.resources ? undefined : ours?.resources) ?? {};
  const resources = [requests?.cpu, requests?.memory, limits?.cpu, limits?.memory];
  return { ...ours, resources: resources.map((value) => (value === undefined ? value : quantity(value))) };
}

suite('properties of /mutate', () => {
  test('every answer is valid, and a second call changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(pods, contexts, async (pod, context) => {
        const { answer, after } = await call(pod, context);
        await assertSettled(after, answer, (asked) => answerTo(asked, context));
      }),
      { numRuns: 500 },
    );
  });

  test('after any change between calls, one more call restores the injection', async () => {
    await fc.assert(
      fc.asyncProperty(pods, contexts, fc.array(between, { maxLength: 5 }), async (pod, context, steps) => {
        let { after } = await call(pod, context);
        for (const step of steps) {
          const next = await call(changed(after, step), context);
          assert.deepEqual((await answerTo(next.after, context)).patch, []);
          after = next.after;
        }
        const last = await call(steps.reduce(changed, after), context);
        await assertSettled(last.after, last.answer, (asked) => answerTo(asked, context));
      }),
      { numRuns: 300 },
    );
  });

  test('one call restores a changed injection', async () => {
    await fc.assert(
      fc.asyncProperty(
        pods,
        contexts,
        fc.array(tampering, { minLength: 1, maxLength: 3 }),
        async (...given) => {
          const [pod, context, hands] = given;
          const { after } = await call(pod, context);
          const tampered = copyOf(after);
          for (const hand of hands) hand(tampered);
          const last = await call(tampered, context);
          if (last.answer.decision.reason === 'profile-applies') {
            const anew = await call(withoutOurs(tampered), context);
            assert.deepEqual(oursIn(last.after), oursIn(anew.after));
          }
          await assertSettled(last.after, last.answer, (asked) => answerTo(asked, context));
        },
      ),
      { numRuns: 300 },
    );
  });
});
