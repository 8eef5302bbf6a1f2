import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { assertHeld, bounds, line } from '../harness/attack.ts';
import { makeInnocents, onBroken } from './innocents.ts';
import { innocent, optedIn } from './objects.ts';
import type { Replica } from './replica.ts';
import type { Stage } from './stage.ts';

/** Attacks while ordinary pods are created, and asserts that only the attacker is affected. */
export async function underAttack(
  t: TestContext,
  { api, replicas }: Stage,
  attack: () => Promise<unknown>,
): Promise<void> {
  assert.ok(
    replicas.every(({ alive }) => alive),
    'a replica was down before',
  );
  await Promise.all(replicas.map((replica) => replica.begin()));
  const began = performance.now();
  const attacking = attack().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const [made, failed] = await Promise.all([makeInnocents(api, bounds.innocents, attacking), attacking]);
  const observed = (await Promise.all(replicas.map((replica) => replica.end()))).flat();
  t.diagnostic(
    `${((performance.now() - began) / 1000).toFixed(0)} s; ${failed ? String(failed.error).slice(0, 3000) : 'as expected'}`,
  );
  for (const one of observed) t.diagnostic(line(one, made));
  for (const one of observed) assertHeld(t.name, one, made);
  const passed = await onBroken(api, [innocent, optedIn]);
  assert.deepEqual(
    passed,
    [],
    `pods on the node that is not ready, of which was answered: ${answers(replicas, passed)}`,
  );
  if (failed !== undefined) throw failed.error;
}

/** The gate's last log lines about up to three pods. A pod has none if no call about it came in time. */
function answers(replicas: readonly Replica[], pods: readonly string[]): string {
  const lines = replicas.flatMap((one) => one.lines).filter(({ webhook }) => webhook === 'gate');
  return pods
    .slice(0, 3)
    .map((name) => {
      const about = lines.filter(({ namespace, pod }) => `${namespace}/${pod}` === name || pod === name);
      return `${name}: ${JSON.stringify(about.slice(-3))}`;
    })
    .join('\n');
}
