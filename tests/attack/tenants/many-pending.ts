import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeOneToSteer, whereItWent } from './innocents.ts';
import { makeNumbered } from './large-objects.ts';
import { broken, inExpressions, optedIn, pod, podsOf } from './objects.ts';
import type { Stage } from './stage.ts';

/** How long a pod may take that is steered, in seconds. The scheduler lets it pause for ten after some refusals. */
const patience = 60;

export interface PendingPods {
  count: number;
  /** Of each pod. The has 280; some fewer than `planLimits.terms` are as dear as is allowed. */
  expressions: number;
  /** Seconds for which they are left to wait. */
  lasts: number;
}

let rounds = 0;

/** Pods for the broken node only, by many expressions. The leader must go on to steer, and to lead. */
export async function makeManyPending({ api, replicas }: Stage, many: PendingPods): Promise<void> {
  rounds += 1;
  const prefix = `pending-${rounds}`;
  const leads = (): string[] => replicas.filter((one) => one.leads).map(({ name }) => name);
  const changes = (): number =>
    replicas.reduce((sum, { lines }) => sum + lines.filter(({ lease }) => lease !== undefined).length, 0);
  const [leader, before] = [leads(), changes()];
  assert.equal(leader.length, 1);
  await makeNumbered(api, podsOf(optedIn), many.count, (index) =>
    pod(`${prefix}-${index}`, {
      spec: { affinity: inExpressions(broken, many.expressions, index) },
      labels: { round: prefix },
    }),
  );
  await sleep(many.lasts * 1000);
  const name = `${prefix}-bystander`;
  await makeOneToSteer(api, name);
  await whereItWent(api, name, patience);
  assert.deepEqual([leads(), changes() - before], [leader, 0], 'the lead changed hands');
}

/** Takes the pods of {@link makeManyPending} away: each costs the scheduler time for as long as it waits. */
export async function endPending({ api }: Stage): Promise<void> {
  const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(
    `${podsOf(optedIn)}?labelSelector=round`,
  );
  await Promise.all(items.map(({ metadata }) => api.delete(`${podsOf(optedIn)}/${metadata.name}`)));
}
