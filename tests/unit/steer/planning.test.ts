import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { planLimits } from '../../../webhook/lib/limits.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { type Bounds, type Plan, plan, planning, type Snapshot } from '../../../webhook/steer/plan.ts';
import { inSlices, restAfter } from '../../../webhook/steer/slices.ts';
import { Turns } from '../../../webhook/steer/turns.ts';
import { Work, withoutPauses } from '../../../webhook/steer/work.ts';
import { heavy, manyNodes } from './heavy.ts';
import { longestTurn } from './longest-turn.ts';
import { type Scenario, scenario } from './scenarios.ts';
import { known, node, now, waiting } from './support.ts';

const { roundSteps, sliceSteps } = planLimits;

const described = ({ nominations, unknown }: Plan) => ({
  nominations: nominations.map(({ pod, node: to, why }) => `${pod.name}>${to} ${why}`),
  unknown,
});

const planOf = ({ pods, known: view, max }: Scenario): Plan => plan(pods, view, max);

const run = (pods: PendingPod[], view: Snapshot, more: Partial<Bounds> = {}): Plan =>
  withoutPauses(
    planning(pods, view, { max: 100, budget: roundSteps, work: new Work(), turns: new Turns(), ...more }),
  );

suite('a plan in slices', () => {
  // pods of one namespace; `npm run test:update` writes the file
  const file = new URL('planned.json', import.meta.url);

  test('is the same as a plan in one go', () => {
    const seeds = Array.from({ length: 24 }, (_, index) => index + 1);
    if (process.env.UPDATE_GOLDEN) {
      const made = seeds.map((seed) => [seed, described(planOf(scenario(seed)))]);
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(made), null, 2)}\n`);
    }
    const golden = JSON.parse(readFileSync(file, 'utf8'));
    for (const seed of seeds) {
      const expected = golden[seed];
      const { pods, known: view, max } = scenario(seed);
      assert.deepEqual(described(planOf(scenario(seed))), expected, `scenario ${seed} in one go`);
      const work = new Work(() => true);
      assert.deepEqual(described(run(pods, view, { max, work })), expected, `scenario ${seed} in slices`);
    }
  });

  test('pauses after 50,000 steps, whatever the pods require', () => {
    const pods = Array.from({ length: 1300 }, (_, index) => heavy(`p${index}`, index));
    let inSlice = 0;
    const work = new Work((steps) => {
      inSlice += steps;
      return inSlice >= sliceSteps;
    });
    const slices: number[] = [];
    const bounds = { max: 100, budget: roundSteps, work, turns: new Turns() };
    const pausing = planning(pods, known(manyNodes), bounds);
    let step = pausing.next();
    for (; step.done !== true; step = pausing.next()) {
      slices.push(inSlice);
      inSlice = 0;
    }
    slices.push(inSlice);
    // one node may be compared at the end of the slice: 16 KiB are 257 steps
    assert.ok(Math.max(...slices) <= sliceSteps + 300, `${Math.max(...slices)} steps in one slice`);
    assert.ok(slices.length > 10, 'it was not work for many slices');
    // the pod during which the budget was spent is finished
    assert.ok(work.spent >= roundSteps && work.spent <= roundSteps + 300 * manyNodes.length);
    assert.ok(step.value.isCut);
  });

  test('leaves the event loop free in between', async () => {
    const pods = Array.from({ length: 1300 }, (_, index) => heavy(`p${index}`, index));
    const measured = longestTurn();
    const { value } = await inSlices(
      (work) =>
        planning(pods, known(manyNodes), { max: 100, budget: 10 * roundSteps, work, turns: new Turns() }),
      new AbortController().signal,
    );
    const { milliseconds, turns } = measured.stop();
    assert.ok(value.isCut);
    assert.ok(turns >= 100, `${turns} turns of the event loop`);
    assert.ok(milliseconds < 200, `a turn of the event loop took ${milliseconds.toFixed(0)} ms`);
  });

  test('stops when the signal is aborted', async () => {
    const stop = new AbortController();
    const pods = Array.from({ length: 100 }, (_, index) => heavy(`p${index}`, index));
    const sliced = inSlices(
      (work) => planning(pods, known(manyNodes), { max: 9, budget: Infinity, work, turns: new Turns() }),
      stop.signal,
    );
    setImmediate(() => stop.abort(new Error('over')));
    await assert.rejects(sliced, /over/);
  });
});

test('the rest after a round is ten times its work, and five seconds at most', () => {
  assert.deepEqual([restAfter(0), restAfter(50), restAfter(10_500)], [0, 500, 5000]);
});

suite('namespaces take turns', () => {
  /** The round in which a pod is nominated. */
  function roundsUntil(pods: PendingPod[], name: string, view: Snapshot, max: number, limit: number): number {
    const turns = new Turns();
    const left = new Set(pods);
    for (let round = 1; round <= limit; round += 1) {
      const planned = run([...left], view, { max, turns });
      turns.done(planned.queues);
      for (const { pod } of planned.nominations) {
        if (pod.name === name) return round;
        left.delete(pod);
      }
    }
    return Number.POSITIVE_INFINITY;
  }
  const other = waiting('web', { heldSince: now - 1 });

  test('5,000 costly pods: a pod of another namespace is nominated in the first round', () => {
    const hostile = Array.from({ length: 5000 }, (_, index) => heavy(`p${index}`, index));
    assert.equal(roundsUntil([...hostile, other], 'web', known(manyNodes), 25, 5), 1);
  });

  test('5,000 pods that fit, one nomination a round: a pod of another namespace is nominated in the second round', () => {
    const hostile = Array.from({ length: 5000 }, (_, index) =>
      waiting(`p${index}`, { namespace: 'hostile', group: `p${index}`, requests: { pods: 1 } }),
    );
    const large = manyNodes.map((one) => ({ ...one, allocatable: { cpu: 1e6, pods: 1e6 } }));
    assert.ok(roundsUntil([...hostile, other], 'web', known(large), 1, 5) <= 2);
  });

  test('40 namespaces of costly pods: a pod of another one is nominated within 15 rounds', () => {
    const hostile = Array.from({ length: 400 }, (_, index) => ({
      ...heavy(`p${index}`, index),
      namespace: `hostile-${index % 40}`,
    }));
    assert.ok(roundsUntil([...hostile, other], 'web', known(manyNodes), 25, 40) <= 15);
  });

  test('a namespace that spent its share goes on when all others are done', () => {
    const hostile = Array.from({ length: 100 }, (_, index) => heavy(`p${index}`, index));
    const work = new Work();
    run([...hostile, other], known(manyNodes), { work });
    assert.ok(work.spent >= roundSteps);
  });

  test('pods that had no turn have it in a later round, the oldest refusals first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), age: fc.nat(50) }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 400 }),
        (made, budget) => {
          const pods = made.map(({ namespace, age }, index) =>
            waiting(`p${index}`, { namespace, heldSince: now - 1000 * age - 2000, requests: { cpu: 9999 } }),
          );
          const turns = new Turns();
          const compared: PendingPod[] = [];
          // each round judges one pod at least, and a namespace with more of them has every third one
          for (let round = 0; round < 3 * pods.length; round += 1) {
            const passedOver = (pod: PendingPod): void => {
              compared.push(pod);
            };
            turns.done(run(pods, known([node('n1'), node('n2')], { passedOver }), { budget, turns }).queues);
          }
          assert.equal(new Set(compared).size, pods.length);
          for (const own of Map.groupBy(new Set(compared), ({ namespace }) => namespace).values()) {
            const since = own.map(({ heldSince = 0 }) => heldSince);
            assert.deepEqual(
              since,
              since.toSorted((one, two) => one - two),
            );
          }
        },
      ),
    );
  });
});
