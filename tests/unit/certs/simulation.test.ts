import { test } from 'node:test';
import fc from 'fast-check';
import { bundleFaults, day, minute, Simulation, secretFaults } from '../../support/certs/simulation.ts';

/** As short as certificates can be for this: a rotation of everything takes a simulated day. */
const settings = { overlap: minute, authorityDays: 1, leafDays: 0.25, names: ['cni-gate.cni-gate.svc'] };

type Event = (simulation: Simulation) => Promise<void> | void;

const index = fc.nat({ max: 2 });
const happening = (label: string, event: Event): { label: string; event: Event } => ({ label, event });
const events = fc.oneof(
  { weight: 40, arbitrary: index.map((at) => happening(`step ${at}`, (it) => it.step(at))) },
  { weight: 8, arbitrary: fc.nat({ max: 3 }).map((at) => happening(`learn ${at}`, (it) => it.learn(at))) },
  {
    weight: 10,
    arbitrary: fc
      .constantFrom(500, 3_000, 20_000, 75_000)
      .map((ms) => happening(`pass ${ms}`, (it) => it.pass(ms))),
  },
  {
    weight: 4,
    arbitrary: fc
      .integer({ min: 1, max: 18 })
      .map((hours) => happening(`pass ${hours} hours`, (it) => it.pass(hours * 60 * minute))),
  },
  { weight: 4, arbitrary: index.map((at) => happening(`restart ${at}`, (it) => it.restart(at))) },
  { weight: 3, arbitrary: index.map((at) => happening(`freeze ${at}`, (it) => it.freeze(at))) },
  { weight: 3, arbitrary: fc.constant(happening('thaw', (it) => it.thaw())) },
  { weight: 3, arbitrary: fc.constant(happening('rotate', (it) => it.rotate())) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(...Object.keys(secretFaults))
      .map((fault) => happening(`Secret: ${fault}`, (it) => it.damage(fault))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat({ max: 20 }), fc.boolean())
      .map(([at, same]) => happening(`Secret of before, ${at} ${same}`, (it) => it.rollBack(at, same))),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...Object.keys(bundleFaults))
      .map((fault) => happening(`caBundle: ${fault}`, (it) => it.breakBundle(fault))),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(-30, -0.1, 0.1, 30)
      .map((days) => happening(`clock set by ${days} days`, (it) => it.jump(days * day))),
  },
);

/** Other sequences each time; after a change of the plan set the variable to some hundreds. */
const runs = Number(process.env.SIMULATION_RUNS ?? 20);
/** `SIMULATION_SEED` and `SIMULATION_PATH` repeat a failure: it says both. */
const { SIMULATION_SEED: seed, SIMULATION_PATH: path } = process.env;
const again = { ...(seed && { seed: Number(seed) }), ...(path && { path }) };

test('whatever happens in whatever order, every API server trusts what every replica serves', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(events, { maxLength: 120, size: 'max' }), async (sequence) => {
      const simulation = await Simulation.begin(settings, 3);
      await simulation.rest();
      for (const { event } of sequence) await event(simulation);
      await simulation.rest();
      simulation.assertWhole();
    }),
    {
      numRuns: runs,
      ...again,
      reporter: (details) => {
        if (!details.failed) return;
        const [sequence = []] = details.counterexample ?? [];
        const steps = sequence.map(({ label }) => `  ${label}`).join('\n');
        const repeat = `SIMULATION_SEED=${details.seed} SIMULATION_PATH=${details.counterexamplePath}`;
        throw new Error(`repeat it with ${repeat}\n${steps}`, { cause: details.errorInstance });
      },
    },
  );
});
