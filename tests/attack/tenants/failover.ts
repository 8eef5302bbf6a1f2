import assert from 'node:assert/strict';
import { eventually } from '../../cluster/harness/eventually.ts';
import { makeOneToSteer, whereItWent } from './innocents.ts';
import { innocent } from './objects.ts';
import type { Stage } from './stage.ts';

/** How long each step may take, in seconds. After some refusals, the scheduler retries a pod every 11 s. */
const patience = 60;

/** The durations of a failover's steps, in seconds. */
export interface Failover {
  /** From the death of the leader until another replica leads. */
  led: number;
  /** From the start of the new leader, or from the first refusal if that is later, until the first nomination. */
  nominated: number;
  bound: number;
}

export async function killTheLeader({ api, replicas }: Stage): Promise<Failover> {
  const leader = replicas.find(({ leads }) => leads);
  const others = replicas.filter((one) => one !== leader);
  assert.ok(leader);
  const names = Array.from({ length: 5 }, (_, index) => `after-failover-${index}`);
  await leader.stop('SIGKILL');
  const killed = performance.now();
  await Promise.all(names.map((name) => makeOneToSteer(api, name)));
  const isLed = (): boolean => others.some(({ leads }) => leads);
  await eventually(async () => assert.ok(isLed(), 'no replica leads'), patience);
  const led = performance.now();
  const isRefusal = ({ level, pod }: Record<string, unknown>): boolean =>
    level === 'warn' && names.includes(String(pod));
  const isRefused = (): boolean => others.some(({ lines }) => lines.some(isRefusal));
  await eventually(async () => assert.ok(isRefused(), 'the scheduler binds none of the pods'), patience);
  const refused = performance.now();
  const isNomination = ({ pod, why }: Record<string, unknown>): boolean =>
    why !== undefined && String(pod).startsWith(`${innocent}/after-failover-`);
  const isNominated = (): boolean => others.some(({ lines }) => lines.some(isNomination));
  await eventually(async () => assert.ok(isNominated(), 'the new leader nominates nothing'), patience);
  const nominated = performance.now();
  await Promise.any(names.map((name) => whereItWent(api, name, patience)));
  const bound = performance.now();
  await Promise.all(names.map((name) => whereItWent(api, name, patience)));
  const seconds = (from: number, to: number): number => (to - from) / 1000;
  return {
    led: seconds(killed, led),
    nominated: seconds(refused, nominated),
    bound: seconds(nominated, bound),
  };
}
