import assert from 'node:assert/strict';
import { eventually } from '../../cluster/harness/eventually.ts';
import { makeOneToSteer, whereItWent } from './innocents.ts';
import type { Stage } from './stage.ts';

/** How long the first pod may take once there is a leader, in seconds. The scheduler lets it pause for ten. */
const patience = 45;

/** What came of it, in seconds. */
export interface Failover {
  /** From the death of the one that led until another leads. */
  led: number;
  /** From then until the first pod had a node that it was steered to. */
  steered: number;
}

/** Kills the replica that leads, while pods wait. */
export async function killTheLeader({ api, replicas }: Stage): Promise<Failover> {
  const leader = replicas.find(({ leads }) => leads);
  const others = replicas.filter((one) => one !== leader);
  assert.ok(leader);
  const names = Array.from({ length: 5 }, (_, index) => `after-failover-${index}`);
  await leader.stop('SIGKILL');
  const killed = performance.now();
  await Promise.all(names.map((name) => makeOneToSteer(api, name)));
  await eventually(
    async () =>
      assert.ok(
        others.some(({ leads }) => leads),
        'nobody leads',
      ),
    60,
  );
  const led = performance.now();
  await Promise.any(names.map((name) => whereItWent(api, name, patience)));
  const steered = performance.now();
  await Promise.all(names.map((name) => whereItWent(api, name, patience)));
  return { led: (led - killed) / 1000, steered: (steered - led) / 1000 };
}
