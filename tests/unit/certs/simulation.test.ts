import { test } from 'node:test';
import fc from 'fast-check';
import { bundleFaults, day, minute, Simulation, secretFaults } from '../../support/certs/simulation.ts';

/** The shortest lifetimes that this test can use, so that a rotation of everything takes a simulated day. */
const settings = { overlap: minute, authorityDays: 1, leafDays: 0.25, names: ['cni-gate.cni-gate.svc'] };

type Event = (simulation: Simulation) => Promise<void> | void;

/** A random event with its weight and the values with which it is called. */
const happening = <Value>(
  weight: number,
  label: string,
  values: fc.Arbitrary<Value>,
  event: (simulation: Simulation, value: Value) => Promise<void> | void,
) => ({
  weight,
  arbitrary: values.map((value): { label: string; event: Event } => ({
    label: `${label} ${JSON.stringify(value)}`,
    event: (simulation) => event(simulation, value),
  })),
});
const index = fc.nat({ max: 2 });
const nothing = fc.constant('');
const events = fc.oneof(
  happening(40, 'step', index, (it, at) => it.step(at)),
  happening(8, 'learn', fc.nat({ max: 3 }), (it, at) => it.learn(at)),
  happening(10, 'pass ms', fc.constantFrom(500, 3_000, 20_000, 75_000), (it, ms) => it.pass(ms)),
  happening(4, 'pass hours', fc.integer({ min: 1, max: 18 }), (it, hours) => it.pass(hours * 60 * minute)),
  happening(4, 'restart', index, (it, at) => it.restart(at)),
  happening(3, 'freeze', index, (it, at) => it.freeze(at)),
  happening(3, 'thaw', nothing, (it) => it.thaw()),
  happening(3, 'rotate', nothing, (it) => it.rotate()),
  happening(4, 'Secret:', fc.constantFrom(...Object.keys(secretFaults)), (it, fault) => it.damage(fault)),
  happening(2, 'Secret of before', fc.tuple(fc.nat({ max: 20 }), fc.boolean()), (it, [at, same]) =>
    it.rollBack(at, same),
  ),
  happening(2, 'caBundle:', fc.constantFrom(...Object.keys(bundleFaults)), (it, fault) =>
    it.breakBundle(fault),
  ),
  happening(1, 'clock set by days', fc.constantFrom(-30, -0.1, 0.1, 30), (it, days) => it.jump(days * day)),
);

/** The number of random sequences. After a change of the plan, set `SIMULATION_RUNS` to some hundreds. */
const runs = Number(process.env.SIMULATION_RUNS ?? 4);
/** To repeat a failure, set `SIMULATION_SEED` and `SIMULATION_PATH` to the values in its message. */
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
