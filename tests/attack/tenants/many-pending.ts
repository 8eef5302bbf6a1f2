import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeOneToSteer, whereItWent } from './innocents.ts';
import { makeNumbered } from './large-objects.ts';
import { broken, inExpressions, optedIn, pod, podsOf } from './objects.ts';
import type { Stage } from './stage.ts';

/** How many seconds a steered pod may wait for its node. The scheduler pauses for ten after some refusals. */
const patience = 60;

export interface PendingPods {
  count: number;
  /** How many expressions each pod has. Pods just below the limit `planLimits.terms` cost the most. */
  expressions: number;
  /** For how many seconds the pods are left pending. */
  lasts: number;
}

let rounds = 0;

/** Makes pods that fit only the broken node, with many expressions. Meanwhile the leader must still steer, and lead. */
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

/** Deletes the pods of {@link makeManyPending}, because each costs the scheduler time as long as it is pending. */
export async function endPending({ api }: Stage): Promise<void> {
  const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(
    `${podsOf(optedIn)}?labelSelector=round`,
  );
  await Promise.all(items.map(({ metadata }) => api.delete(`${podsOf(optedIn)}/${metadata.name}`)));
}
